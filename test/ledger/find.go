package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// anID is a requirement's id; ranges such as KY-1…3 stand for each of them.
var anID = regexp.MustCompile(`\b([A-Z]{1,3})-(\d+)(?:…(\d+))?\b`)

// findTests maps each id to the tests that name it, as `folder.TestName`.
func findTests(root string) (map[string][]string, error) {
	found := make(map[string][]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") && !strings.Contains(filepath.ToSlash(path), "/oauthtest/") || !strings.HasSuffix(path, ".go") {
			return nil
		}
		return readTests(path, found)
	})
	for id := range found {
		slices.Sort(found[id])
		found[id] = slices.Compact(found[id])
	}
	return found, err
}

func readTests(path string, found map[string][]string) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	folder := filepath.ToSlash(filepath.Dir(path))
	for _, d := range file.Decls {
		name, node := declared(d)
		if node == nil {
			continue
		}
		where := "`" + folder + "." + name + "`"
		for _, text := range texts(d) {
			for _, id := range idsIn(text) {
				found[id] = append(found[id], where)
			}
		}
	}
	return nil
}

// declared is the name that a declaration is known by: a function, or the first name of a table of cases.
func declared(d ast.Decl) (string, ast.Node) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name, d
	case *ast.GenDecl:
		if d.Tok == token.VAR && len(d.Specs) > 0 {
			return d.Specs[0].(*ast.ValueSpec).Names[0].Name, d
		}
	}
	return "", nil
}

// texts are a declaration's strings and its doc comment.
func texts(d ast.Decl) []string {
	var out []string
	if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil {
		out = append(out, f.Doc.Text())
	}
	ast.Inspect(d, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			out = append(out, lit.Value)
		}
		return true
	})
	return out
}

func idsIn(text string) []string {
	var out []string
	for _, m := range anID.FindAllStringSubmatch(text, -1) {
		first, last := atoi(m[2]), max(atoi(m[2]), atoi(m[3]))
		for n := first; n <= last && n-first < 50; n++ {
			out = append(out, m[1]+"-"+itoa(n))
		}
	}
	return out
}

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

func itoa(n int) string { return strconv.Itoa(n) }
