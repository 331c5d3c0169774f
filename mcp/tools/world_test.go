package tools_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/app/limit"
	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/mcp"
	"gatehouse/mcp/tools"
)

// world is the tool set on the real services and a database, called over HTTP.
type world struct {
	t        testing.TB
	clock    *dbtest.Clock
	url      string
	accounts *account.Service
	homes    *home.Service
	set      *tools.Set
	server   *mcp.Server
	people   int
	denied   []string // scopes the refusal of a connection was made for
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, clock: dbtest.NewClock(), url: dbtest.SQLiteURL(t)}
	d := dbtest.Open(t, w.url, w.clock.Now)
	w.addServices(d)
	limiter := limit.New(limit.Config{Now: w.clock.Now})
	set, err := tools.New(tools.Deps{
		Inventory: inventory.New(inventory.Options{Store: d, Now: w.clock.Now, Rand: rand.Reader, PublicURL: "https://home.example"}),
		Limiter:   limiter, CursorKey: bytes.Repeat([]byte{7}, 32), Rand: rand.Reader,
		ScopeDenied: func(_ context.Context, scopes string) error {
			w.denied = append(w.denied, scopes)
			return &mcp.HTTPRefusal{Status: http.StatusForbidden, Message: "more permissions"}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.set = set
	if w.server, err = mcp.NewServer(mcp.Implementation{Name: "test", Version: "1"}, set.Options()...); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) addServices(d *db.DB) {
	w.t.Helper()
	var err error
	w.accounts, err = account.New(account.Config{
		Now: w.clock.Now, Rand: rand.Reader, Store: d, PublicURL: "https://home.example/",
		Passwords: account.PasswordParams{MemoryKiB: 64, Iterations: 1, Parallelism: 1},
		SignIns:   limit.NewSignIns(w.clock.Now, d, limit.New(limit.Config{Now: w.clock.Now})),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.homes, err = home.New(home.Config{Now: w.clock.Now, Rand: rand.Reader, Store: d}); err != nil {
		w.t.Fatal(err)
	}
}

// person adds a person, who starts with a location named Home.
func (w *world) person() *account.Person {
	w.t.Helper()
	w.people++
	p, err := w.accounts.AddPerson(w.t.Context(), account.NewPerson{
		Email: fmt.Sprintf("p%d@example.org", w.people), Name: "Ada", Password: "seven quiet otters swim home 7",
		LocationName: "Home", TimeZone: "Europe/Madrid", Currency: "EUR",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// location adds a location to a person and gives its id.
func (w *world) location(owner *account.Person, name string) string {
	w.t.Helper()
	l, err := w.homes.CreateLocation(w.t.Context(), owner.ID, home.NewLocation{Name: name, TimeZone: "Europe/Madrid", Preset: home.PresetComplete})
	if err != nil {
		w.t.Fatal(err)
	}
	return l.ID
}

// home is the id of the first location of a person.
func (w *world) home(p *account.Person) string {
	w.t.Helper()
	list, err := w.homes.LocationsOf(w.t.Context(), p.ID)
	if err != nil || len(list) == 0 {
		w.t.Fatal("no location", err)
	}
	return list[0].ID
}

// connection is the principal of a connection that may write, as read at this moment; change adjusts it.
func (w *world) connection(p *account.Person, change ...func(*home.Principal)) *home.Principal {
	w.t.Helper()
	access, err := w.homes.Choices(w.t.Context(), p.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	out := &home.Principal{
		UserID: p.ID, UserName: p.Name, Actor: home.ActorConnection, ConnectionID: "01a22be9-3a98-7c33-8e00-5d1f00000003",
		Scopes: []string{home.ScopeRead, home.ScopeWrite}, Locations: access, Via: "mcp", RequestID: "req-1",
	}
	for _, f := range change {
		f(out)
	}
	return out
}

func readOnly(p *home.Principal) { p.Scopes = []string{home.ScopeRead} }

func asToken(p *home.Principal) {
	p.Actor, p.TokenID, p.ConnectionID = home.ActorToken, "01a22be9-3a98-7c33-8e00-5d1f00000004", ""
}

func only(locationID string) func(*home.Principal) {
	return func(p *home.Principal) { p.Locations = []home.Access{*p.At(locationID)} }
}

// ok calls a tool and gives the answer's text; an error answer fails the test.
func (w *world) ok(p *home.Principal, tool, args string) string {
	w.t.Helper()
	r := w.call(p, tool, args)
	if r.isError || r.status != http.StatusOK || r.rpcCode != 0 {
		w.t.Fatalf("%s %s: %+v", tool, args, r)
	}
	if len(r.text) >= tools.AnswerLimit {
		w.t.Errorf("KE-139 %s answered %d bytes", tool, len(r.text))
	}
	return r.text
}

// fails calls a tool and checks code and hint of the error it answers; an empty hint takes any.
func (w *world) fails(p *home.Principal, tool, args, code, hint string) {
	w.t.Helper()
	r := w.call(p, tool, args)
	var e map[string]string
	if err := json.Unmarshal([]byte(r.text), &e); err != nil || !r.isError {
		w.t.Fatalf("%s %s: no error but %+v", tool, args, r)
	}
	if e["error"] != code || e["hint"] == "" || hint != "" && e["hint"] != hint || len(e) != 2 {
		w.t.Errorf("%s %s: %s, want %s %q", tool, args, r.text, code, hint)
	}
}

type reply struct {
	status  int
	rpcCode int
	isError bool
	text    string
	raw     string
}

func (w *world) call(p *home.Principal, tool, args string) reply {
	w.t.Helper()
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": json.RawMessage(args)})
	if err != nil {
		w.t.Fatalf("arguments %s: %v", args, err)
	}
	status, body := w.post(p, "tools/call", params)
	var msg struct {
		Error  *struct{ Code int }
		Result struct {
			Content           []struct{ Type, Text string }
			IsError           bool
			StructuredContent any
		}
	}
	if err := json.Unmarshal(body, &msg); err != nil {
		w.t.Fatalf("%s: %v\n%s", tool, err, body)
	}
	r := reply{status: status, raw: string(body)}
	if msg.Error != nil {
		r.rpcCode = msg.Error.Code
		return r
	}
	if len(msg.Result.Content) != 1 || msg.Result.Content[0].Type != "text" || msg.Result.StructuredContent != nil {
		w.t.Fatalf("KE-97 KE-98 %s is not sent once as text: %s", tool, body)
	}
	r.isError, r.text = msg.Result.IsError, msg.Result.Content[0].Text
	return r
}

func (w *world) post(p *home.Principal, method string, params json.RawMessage) (int, []byte) {
	w.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	req := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", "2025-06-18")
	rec := httptest.NewRecorder()
	w.server.ServeHTTP(rec, req.WithContext(home.WithPrincipal(w.t.Context(), p)))
	return rec.Code, rec.Body.Bytes()
}

// listed names the tools of tools/list.
func (w *world) listed(p *home.Principal) []string {
	w.t.Helper()
	_, body := w.post(p, "tools/list", json.RawMessage(`{}`))
	var msg struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal(body, &msg); err != nil || !bytes.Contains(body, []byte(`"tools":[`)) {
		w.t.Fatalf("tools/list: %v\n%s", err, body)
	}
	names := []string{}
	for _, t := range msg.Result.Tools {
		names = append(names, t.Name)
	}
	return names
}

// sql opens the database beside the program, to put into it what no service writes.
func (w *world) sql() *sql.DB {
	w.t.Helper()
	d, err := sql.Open("sqlite", strings.TrimPrefix(w.url, "sqlite://"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = d.Close() })
	return d
}

// pick gives the value at a path of an answer, such as data.things.0.id.
func pick(t testing.TB, text, path string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	for key := range strings.SplitSeq(path, ".") {
		switch c := v.(type) {
		case map[string]any:
			v = c[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(c) {
				t.Fatalf("no %s in %s", path, text)
			}
			v = c[i]
		default:
			t.Fatalf("no %s in %s", path, text)
		}
	}
	return v
}

func pickText(t testing.TB, text, path string) string {
	t.Helper()
	s, ok := pick(t, text, path).(string)
	if !ok {
		t.Fatalf("%s is no text in %s", path, text)
	}
	return s
}

var (
	uuidForm = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	codeForm = regexp.MustCompile(`"short_code":"[0-9A-HJKMNP-TV-Z]{6}"`)
	dateForm = regexp.MustCompile(`"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"`)
)

// plainly replaces what differs from run to run: ids become #1, #2 … in order of appearance, codes CODE.
func plainly(text string) string {
	seen := map[string]string{}
	text = codeForm.ReplaceAllString(text, `"short_code":"CODE"`)
	return uuidForm.ReplaceAllStringFunc(text, func(id string) string {
		if seen[id] == "" {
			seen[id] = fmt.Sprintf("#%d", len(seen)+1)
		}
		return seen[id]
	})
}

func (w *world) same(what, got, want string) {
	w.t.Helper()
	want = strings.ReplaceAll(want, "NOW", w.clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	want = strings.ReplaceAll(want, "UNDO", w.clock.Now().Add(7*24*time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"))
	if got = plainly(got); got != want {
		w.t.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}
