// Texts compares the catalogues with the source: which texts of pages have no translation yet, which translations belong
// to no text any more, and where the placeholders differ.
//
//	go run ./templates/lang/texts          lists what is to do, and fails while there is anything
//	go run ./templates/lang/texts -write   puts the missing texts into the catalogues, empty, and takes unused ones out
//
// It reads the source as text, so a text must stand there as a constant: lang.T(ctx, "Sign in"), never lang.T(ctx, x),
// unless x came from lang.Text or from one of the places listed in source.go.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	write := flag.Bool("write", false, "add missing texts to the catalogues, empty, and remove unused ones")
	root := flag.String("root", ".", "the folder of the module")
	flag.Parse()
	n, err := run(*root, *write)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || n > 0 {
		os.Exit(1)
	}
}

// run reports what is to do in every catalogue and how much that is.
func run(root string, write bool) (int, error) {
	uses, err := sourceTexts(root)
	if err != nil {
		return 0, err
	}
	files, err := filepath.Glob(filepath.Join(root, "templates/lang/catalog/*.json"))
	if err != nil {
		return 0, err
	}
	count := 0
	for _, file := range files {
		c, err := readCatalogue(file)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		if write {
			if err := c.complete(uses).save(file); err != nil {
				return 0, err
			}
		}
		for _, p := range c.problems(uses) {
			fmt.Printf("%s: %s\n", filepath.Base(file), p)
			count++
		}
	}
	return count, nil
}
