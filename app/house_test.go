package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatehouse/app/apptest"
)

// The rules of the house that a test can hold. Each message says what to do instead.

// source is one Go file of the module.
type source struct {
	path    string // relative to the module, with slashes
	pkg     string // folder
	test    bool
	imports []string
	lines   int
	file    *ast.File
	fset    *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	root := apptest.Root()
	var out []source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && (base == ".git" || base == "node_modules" || base == "testdata" || base == "data") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(base, ".go") {
			return nil
		}
		rel, _ := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		s := source{path: rel, pkg: path.Dir(rel), test: strings.HasSuffix(base, "_test.go"), file: f, fset: fset,
			lines: fset.File(f.Pos()).LineCount()}
		for _, i := range f.Imports {
			s.imports = append(s.imports, strings.Trim(i.Path.Value, `"`))
		}
		out = append(out, s)
		return nil
	})
	if err != nil || len(out) < 20 {
		t.Fatalf("found %d files: %v", len(out), err)
	}
	return out
}

// mayImport lists, for a folder, the folders of ours that its production code may import. A trailing /* stands for all
// folders below. The longest matching rule counts.
var mayImport = map[string][]string{
	"cmd/gatehouse":   {"app"},
	"app":             {"app/*", "web", "templates/lang", "mcp", "mcp/*", "db", "oauth"},
	"app/account":     {"app/limit", "app/home"},
	"app/home":        {"app/account", "app/toolgrant"},
	"app/toolgrant":   {},
	"app/activity":    {},
	"app/trust":       {"app/account", "app/connection", "app/home", "oauth"},
	"app/audit":       {},
	"app/limit":       {},
	"app/handshake":   {"oauth"},
	"app/connection":  {"app/home", "app/toolgrant", "oauth"},
	"app/doctor":      {},
	"app/fetch":       {"oauth"},
	"app/policy":      {"oauth"},
	"app/logo":        {},
	"app/invitation":  {"app/account", "app/home"},
	"app/upstream":    {"app/account", "app/invitation"},
	"app/mail":        {"templates/lang"},
	"app/sealing":     {"oauth"},
	"app/inventory":   {"app/home", "app/activity", "app/account"},
	"app/apptest":     {},
	"oauth":           {},
	"oauth/oauthtest": {"oauth"},
	"mcp":             {},
	"mcp/endpoint":    {"app/account", "app/home", "app/toolgrant", "app/limit", "oauth", "mcp"},
	"mcp/tools":       {"app/account", "app/home", "app/toolgrant", "app/inventory", "app/activity", "app/limit", "mcp"},
	"db":              {"db/migrations", "app/*", "oauth"},
	"db/migrations":   {},
	"db/dbtest":       {"db"},
	"templates":       {"templates/lang"},
	"templates/lang":  {},
	"web":             {"templates", "templates/lang", "app/*", "oauth"},
	"bench":           {"app/apptest", "mcp"},
	"examples":        {"mcp"},
	"test":            {"app/apptest"},

	"templates/lang/texts": {},
}

func TestImportArrows(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		allowed, known := rule(s.pkg)
		if !known {
			t.Errorf("%s: the folder has no rule; add it to mayImport in app/house_test.go", s.path)
			continue
		}
		for _, i := range s.imports {
			ours, is := strings.CutPrefix(i, "gatehouse/")
			if is && !slices.ContainsFunc(allowed, func(a string) bool { return covers(a, ours) }) {
				t.Errorf("%s imports %s: arrows run cmd → app → {web, mcp/endpoint, mcp/tools, db} → {app/<domain>, oauth, mcp}; see AGENTS.md", s.path, i)
			}
		}
	}
}

func rule(pkg string) ([]string, bool) {
	for p := pkg; p != "."; p = path.Dir(p) {
		if a, ok := mayImport[p]; ok && (p == pkg || p == "examples" || p == "test") {
			return a, true
		}
	}
	return nil, false
}

func covers(allowed, pkg string) bool {
	if below, ok := strings.CutSuffix(allowed, "/*"); ok {
		return strings.HasPrefix(pkg, below+"/") && pkg != "app/apptest"
	}
	return allowed == pkg
}

func TestDomainsDoNotImportTests(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		for _, i := range s.imports {
			testOnly := i == "testing" || strings.HasSuffix(i, "oauthtest") || strings.HasSuffix(i, "dbtest") || strings.HasSuffix(i, "apptest")
			inTests := s.test || strings.HasSuffix(s.pkg, "test") || s.pkg == "bench" || strings.HasPrefix(s.pkg, "test/")
			if testOnly && !inTests {
				t.Errorf("%s imports %s: test packages stay out of the program", s.path, i)
			}
		}
	}
}

// homes are the only folders that may import a library.
var homes = map[string][]string{
	"gorm.io/":                {"db", "db/migrations"},
	"database/sql":            {"db", "db/dbtest"},
	"github.com/go-jose/":     {"oauth", "oauth/oauthtest"},
	"github.com/labstack/":    {"web", "app", "mcp/endpoint"},
	"github.com/a-h/templ":    {"templates", "web"},
	"github.com/libtnb/":      {"db"},
	"github.com/alecthomas/":  {"cmd/gatehouse"},
	"code.dny.dev/ssrf":       {"app/fetch"},
	"github.com/alexedwards/": {"app/account"},
	"github.com/go-webauthn/": {"app/account"},
	"github.com/pquerna/":     {"app/account"},
	"github.com/yeqown/":      {"web"},
}

func TestLibrariesStayAtHome(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || s.pkg == "bench" {
			continue
		}
		for _, i := range s.imports {
			for lib, folders := range homes {
				if strings.HasPrefix(i, lib) && !slices.Contains(folders, s.pkg) {
					t.Errorf("%s imports %s, whose only home is %v", s.path, i, folders)
				}
			}
			if strings.HasPrefix(i, "github.com/modelcontextprotocol/go-sdk") {
				t.Errorf("%s imports the Go SDK, which serves tests and benchmarks only", s.path)
			}
		}
	}
}

func TestFilesStayShort(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if !s.test && !strings.HasSuffix(s.path, "_templ.go") && s.pkg != "db/migrations" && s.lines > 400 {
			t.Errorf("%s has %d lines; 400 is the cap: split it by noun", s.path, s.lines)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || s.test || strings.HasSuffix(s.path, "_templ.go") {
				continue
			}
			if n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1; n > 80 {
				t.Errorf("%s: %s has %d lines; 80 is the cap", s.path, f.Name.Name, n)
			}
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || strings.HasSuffix(s.path, "_templ.go") {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) && d.Doc == nil {
					t.Errorf("%s: %s has no doc comment", s.path, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() && ts.Doc == nil && d.Doc == nil {
						t.Errorf("%s: type %s has no doc comment", s.path, ts.Name.Name)
					}
				}
			}
		}
	}
}

// exportedReceiver reports whether the function is one a reader of the package's documentation meets. Methods that
// implement error and fmt.Stringer speak for themselves.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	if slices.Contains([]string{"Error", "String", "Unwrap"}, d.Name.Name) {
		return false
	}
	e := d.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if index, ok := e.(*ast.IndexExpr); ok {
		e = index.X
	}
	id, ok := e.(*ast.Ident)
	return ok && id.IsExported()
}

func TestPackagesHaveAComment(t *testing.T) {
	t.Parallel()
	has := map[string]bool{}
	for _, s := range sources(t) {
		if !s.test {
			has[s.pkg] = has[s.pkg] || s.file.Doc != nil
		}
	}
	for pkg, ok := range has {
		if !ok {
			t.Errorf("package %s has no package comment; say its purpose, its border and what it must never do", pkg)
		}
	}
}

var specification = regexp.MustCompile(`RFC ?\d{4}|OAuth 2\.1|draft-|OpenID Connect`)

func TestProtocolFilesNameTheirSpecification(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.pkg != "oauth" || s.test {
			continue
		}
		text, err := os.ReadFile(filepath.Join(apptest.Root(), s.path))
		if err != nil {
			t.Fatal(err)
		}
		head := strings.Join(strings.SplitN(string(text), "\n", 26)[:min(25, strings.Count(string(text), "\n"))], "\n")
		if !specification.MatchString(head) {
			t.Errorf("%s: say at the top which specification and sections it implements", s.path)
		}
	}
}

func TestLibrariesHoldNoProductWords(t *testing.T) {
	t.Parallel()
	words := regexp.MustCompile(`(?i)\b(household|inventory|gatehouse)\b`)
	for _, s := range sources(t) {
		if s.test || s.pkg != "oauth" && s.pkg != "mcp" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(apptest.Root(), s.path))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if !strings.Contains(line, `"gatehouse/`) && words.MatchString(line) {
				t.Errorf("%s:%d: a product word in a library: %s", s.path, i+1, strings.TrimSpace(line))
			}
		}
	}
}

var clockOrRandom = regexp.MustCompile(`\btime\.(Now|Since|Until)\(|"crypto/rand"|"math/rand`)

func TestClockAndRandomnessAreInjected(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || s.pkg == "app" || s.pkg == "cmd/gatehouse" || strings.HasSuffix(s.pkg, "test") || s.pkg == "bench" || strings.HasPrefix(s.pkg, "examples") || strings.HasPrefix(s.pkg, "test/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(apptest.Root(), s.path))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if code, _, _ := strings.Cut(line, "//"); clockOrRandom.MatchString(code) {
				t.Errorf("%s:%d: the clock and the randomness come in through the configuration; only app names the real ones: %s", s.path, i+1, strings.TrimSpace(line))
			}
		}
	}
}
