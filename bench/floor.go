package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/labstack/echo/v4"
	"github.com/libtnb/sqlite"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// The floor is the least that a token endpoint on the same libraries does: Echo, GORM and go-jose, one transaction, a
// single use by conditional update, a new refresh token, an ES256 signature. No clients, no checks, no rotation rules.

type floorToken struct {
	Hash      []byte `gorm:"primaryKey"`
	Kind      string
	UserID    string
	UsedAt    *time.Time
	ExpiresAt time.Time
}

type floorConnection struct {
	ID        string `gorm:"primaryKey"`
	UserID    string
	CreatedAt time.Time
}

func openFloor(url string) (*gorm.DB, error) {
	cfg := &gorm.Config{Logger: logger.Discard, PrepareStmt: true, SkipDefaultTransaction: true}
	if strings.HasPrefix(url, "postgres") {
		d, err := gorm.Open(postgres.Open(url), cfg)
		if err != nil {
			return nil, err
		}
		pool, err := d.DB()
		if err == nil {
			pool.SetMaxOpenConns(16)
			pool.SetMaxIdleConns(16)
		}
		return d, err
	}
	d, err := gorm.Open(sqlite.Open("file:"+url+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(10000)&_txlock=immediate"), cfg)
	if err != nil {
		return nil, err
	}
	pool, err := d.DB()
	if err == nil {
		pool.SetMaxOpenConns(1)
	}
	return d, err
}

func serveFloor(address, url string) error {
	d, err := openFloor(url)
	if err != nil {
		return err
	}
	if err := d.AutoMigrate(&floorToken{}, &floorConnection{}); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{}).WithType("at+jwt"))
	if err != nil {
		return err
	}
	e := echo.New()
	e.POST("/token", func(c echo.Context) error {
		answer, err := floorExchange(c.Request().Context(), d, signer, c.FormValue("grant_type"), c.FormValue("code")+c.FormValue("refresh_token"))
		if err != nil {
			return c.JSON(http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": err.Error()})
		}
		return c.JSON(http.StatusOK, answer)
	})
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return (&http.Server{Handler: e}).Serve(l)
}

func floorExchange(ctx context.Context, d *gorm.DB, signer jose.Signer, grant, secret string) (map[string]any, error) {
	now := time.Now()
	hash := sha256.Sum256([]byte(secret))
	next := rand.Text()
	nextHash := sha256.Sum256([]byte(next))
	user := rand.Text()
	err := d.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		used := tx.Model(&floorToken{}).Where("hash = ? AND used_at IS NULL AND expires_at > ?", hash[:], now).Update("used_at", now)
		if used.Error != nil || used.RowsAffected != 1 {
			return fmt.Errorf("used %d: %w", used.RowsAffected, used.Error)
		}
		if grant == "authorization_code" {
			if err := tx.Create(&floorConnection{ID: rand.Text(), UserID: user, CreatedAt: now}).Error; err != nil {
				return err
			}
		}
		return tx.Create(&floorToken{Hash: nextHash[:], Kind: "refresh", UserID: user, ExpiresAt: now.Add(720 * time.Hour)}).Error
	})
	if err != nil {
		return nil, err
	}
	claims, err := json.Marshal(map[string]any{"iss": "http://floor", "sub": user, "aud": "http://floor/mcp", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "jti": rand.Text()})
	if err != nil {
		return nil, err
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return nil, err
	}
	token, err := signed.CompactSerialize()
	return map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": next, "scope": "home:read"}, err
}

// floor starts this program again as the floor on a database and gives its targets.
func floor(t *host, where, url string, codes int) []target {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-floor", "127.0.0.1:0", url)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	d, err := openFloor(url)
	if err != nil {
		t.Fatal(err)
	}
	secrets := newSecrets(codes)
	rows := make([]floorToken, 0, codes)
	for _, s := range secrets {
		hash := sha256.Sum256([]byte(s))
		rows = append(rows, floorToken{Hash: hash[:], Kind: "code", ExpiresAt: time.Now().Add(time.Hour)})
	}
	if err := d.CreateInBatches(rows, 500).Error; err != nil {
		t.Fatal(err)
	}
	return tokenTargets("floor, "+where, strings.TrimSpace(line)+"/token", cmd.Process.Pid, secrets, []string{"none"})
}

func newSecrets(n int) []string {
	out := make([]string, n)
	for i := range out {
		b := make([]byte, 32)
		_, _ = rand.Read(b)
		out[i] = base64.RawURLEncoding.EncodeToString(b)
	}
	return out
}
