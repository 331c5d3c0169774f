package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// use is a text of the source. One is set where the text is for counts: the English text for 1.
type use struct {
	text, one string
	at        string // file:line of the first place
}

// call says which argument of a function is a text. Packages are folders; no package stands for all of them.
type call struct {
	name     string
	packages []string
	text     int
	one      int // the argument with the text for 1, or 0
}

var calls = []call{
	{name: "lang.T", text: 1},
	{name: "lang.N", text: 3, one: 2},
	{name: "lang.Text", text: 0},
	{name: "T", packages: []string{"templates/lang"}, text: 1},
	{name: "N", packages: []string{"templates/lang"}, text: 3, one: 2},
	{name: "Text", packages: []string{"templates/lang"}, text: 0},
	{name: "say", packages: []string{"web"}, text: 1},
	// Refusals of domains, which pages show.
	{name: "Refuse", packages: []string{"app/account"}, text: 2},
	{name: "account.Refuse", text: 2},
	{name: "errForbidden", packages: []string{"app/home"}, text: 0},
	{name: "invalid", packages: []string{"app/connection"}, text: 1},
}

// tables are variables whose maps have texts as values.
var tables = []struct{ pkg, name string }{
	{"app/handshake", "advice"}, {"app/inventory", "sentences"},
}

// pageErrorFields are the fields of web.PageError that are shown.
var pageErrorFields = []string{"Title", "What", "Why", "Advice"}

// reader gathers the texts of one package's files.
type reader struct {
	pkg    string
	consts map[string]ast.Expr
	fset   *token.FileSet
	uses   map[string]use
}

// sourceTexts are the texts of the module, by text.
func sourceTexts(root string) (map[string]use, error) {
	fset := token.NewFileSet()
	packages := map[string][]*ast.File{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if slices.Contains([]string{"node_modules", "testdata", "test", "bench", "examples", "data"}, base) || strings.HasPrefix(base, ".") && name != root {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(rel))
		packages[pkg] = append(packages[pkg], f)
		return nil
	})
	uses := map[string]use{}
	for pkg, files := range packages {
		r := &reader{pkg: pkg, consts: constants(files), fset: fset, uses: uses}
		for _, f := range files {
			ast.Inspect(f, r.visit)
		}
	}
	return uses, err
}

func constants(files []*ast.File) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i < len(v.Values) {
						out[name.Name] = v.Values[i]
					}
				}
			}
		}
	}
	return out
}

func (r *reader) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		r.call(n)
	case *ast.ValueSpec:
		r.table(n)
	case *ast.CompositeLit:
		r.pageError(n)
	}
	return true
}

func (r *reader) call(n *ast.CallExpr) {
	name := nameOf(n.Fun)
	for _, c := range calls {
		if c.name != name || c.packages != nil && !slices.Contains(c.packages, r.pkg) || len(n.Args) <= c.text {
			continue
		}
		one := ""
		if c.one > 0 {
			one, _ = r.constant(n.Args[c.one])
		}
		r.add(n.Args[c.text], one)
	}
}

func (r *reader) table(n *ast.ValueSpec) {
	for _, t := range tables {
		if t.pkg != r.pkg || n.Names[0].Name != t.name || len(n.Values) != 1 {
			continue
		}
		m, ok := n.Values[0].(*ast.CompositeLit)
		for i := 0; ok && i < len(m.Elts); i++ {
			r.add(m.Elts[i].(*ast.KeyValueExpr).Value, "")
		}
	}
}

func (r *reader) pageError(n *ast.CompositeLit) {
	if name := nameOf(n.Type); name != "PageError" && name != "web.PageError" {
		return
	}
	for _, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok || !slices.Contains(pageErrorFields, nameOf(kv.Key)) {
			continue
		}
		r.add(kv.Value, "")
		if list, ok := kv.Value.(*ast.CompositeLit); ok {
			for _, v := range list.Elts {
				r.add(v, "")
			}
		}
	}
}

// add takes a text that is a constant. Others came from where a constant stands.
func (r *reader) add(e ast.Expr, one string) {
	text, ok := r.constant(e)
	if _, known := r.uses[text]; !ok || text == "" || known && one == "" {
		return
	}
	p := r.fset.Position(e.Pos())
	r.uses[text] = use{text: text, one: one, at: p.Filename + ":" + strconv.Itoa(p.Line)}
}

// constant is the value of a text made of literals and constants of the package.
func (r *reader) constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.ParenExpr:
		return r.constant(e.X)
	case *ast.Ident:
		if v, ok := r.consts[e.Name]; ok {
			return r.constant(v)
		}
	case *ast.BinaryExpr:
		left, ok := r.constant(e.X)
		right, also := r.constant(e.Y)
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}

// nameOf is the name of a function, type or key: "T", "lang.T"; "" for anything else.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}
