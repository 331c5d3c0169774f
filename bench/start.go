package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"gatehouse/app/apptest"
)

// measureStart builds the program as a release is built, starts it several times on one database, and prints the time to
// the first answer, the resident memory a second later, and the size of the binary.
func measureStart(times int) error {
	dir, err := os.MkdirTemp("", "gatehouse-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "gatehouse")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "./cmd/gatehouse")
	build.Dir, build.Env = apptest.Root(), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	info, err := os.Stat(bin)
	if err != nil {
		return err
	}
	var took, memory []float64
	for i := range times + 1 {
		ms, kib, err := startOnce(bin, filepath.Join(dir, "data"))
		if err != nil {
			return err
		}
		if i > 0 { // the first start makes the database
			took, memory = append(took, ms), append(memory, kib)
		}
	}
	fmt.Printf("start to first answer %.0f ms, resident memory %.1f MiB (medians of %d), binary %.1f MB\n",
		median(took), median(memory)/1024, times, float64(info.Size())/1e6)
	return nil
}

func startOnce(bin, data string) (ms, kib float64, err error) {
	const address = "127.0.0.1:8178"
	cmd := exec.Command(bin, "serve", "--listen", address, "--data-dir", data)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() }()
	for {
		res, err := http.Get("http://" + address + "/readyz")
		if err == nil {
			_ = res.Body.Close()
			break
		}
		if time.Since(begin) > 20*time.Second {
			return 0, 0, fmt.Errorf("no answer: %w", err)
		}
		time.Sleep(time.Millisecond)
	}
	ms = float64(time.Since(begin).Microseconds()) / 1000
	time.Sleep(time.Second)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	_, err = fmt.Sscan(rest, &kib)
	return ms, kib, err
}
