// Command ledger writes, for each list of requirements in docs/requirements, the table of which test names which id.
//
//	go run ./test/ledger         # writes docs/conformance-<list>.md
//	go run ./test/ledger -check  # writes nothing; fails when a table is old or a requirement has no test
//
// A test names an id when the id stands in a string inside it (the name of a case, a message) or in its own doc comment.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail when a table is old or a requirement has no test")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(check bool) error {
	lists, err := filepath.Glob("docs/requirements/*.txt")
	if err != nil || len(lists) == 0 {
		return errors.New("run it in the module's root: docs/requirements is not here")
	}
	found, err := findTests(".")
	if err != nil {
		return err
	}
	var wrong []error
	for _, list := range lists {
		text, missing, err := table(list, found)
		if err != nil {
			return err
		}
		out := filepath.Join("docs", "conformance-"+strings.TrimSuffix(filepath.Base(list), ".txt")+".md")
		if len(missing) > 0 {
			wrong = append(wrong, fmt.Errorf("%s: no test names %s", list, strings.Join(missing, ", ")))
		}
		if !check {
			if err := os.WriteFile(out, text, 0o644); err != nil {
				return err
			}
			continue
		}
		if have, err := os.ReadFile(out); err != nil || !bytes.Equal(have, text) {
			wrong = append(wrong, fmt.Errorf("%s is old: go run ./test/ledger", out))
		}
	}
	return errors.Join(wrong...)
}
