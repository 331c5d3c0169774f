package activity

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"
)

func counter() func() (string, error) {
	n := 0
	return func() (string, error) { n++; return strconv.Itoa(n), nil }
}

func TestDiff(t *testing.T) {
	t.Parallel()
	type money struct{ Parts int }
	var none *money
	for _, c := range []struct {
		name     string
		from, to any
		same     bool
	}{
		{"equal", "a", "a", true}, {"differs", "a", "b", false}, {"no value", nil, "", true}, {"nil pointer", none, nil, true},
		{"empty list", nil, []string{}, true}, {"zero is a value", nil, 0, false}, {"false is a value", true, false, false},
		{"pointers by what they point to", &money{1}, &money{1}, true}, {"pointers differ", &money{1}, &money{2}, false},
		{"list order", []string{"a", "b"}, []string{"b", "a"}, false},
	} {
		var d Diff
		d.Set("f", c.from, c.to)
		if d.Empty() != c.same {
			t.Errorf("KE-87 %s: %+v", c.name, d.Changes())
		}
	}
	var d Diff
	d.Set("name", "a", "b")
	d.Set("model", "x", nil)
	b, err := json.Marshal(d.Changes())
	if err != nil || string(b) != `[{"field":"name","from":"a","to":"b"},{"field":"model","from":"x"}]` {
		t.Errorf("KE-87 %s %v", b, err)
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 10, 15, 0, 0, time.UTC)
	l := NewLog(counter())
	main, _ := l.Add(Entry{Action: "thing.create", SubjectType: Thing, SubjectID: "t", Undo: []byte("{}")})
	_, _ = l.Add(Entry{Action: "tag.create", SubjectType: Tag, SubjectID: "g", CompanionOf: main, Undo: []byte("{}")})
	_, _ = l.Add(Entry{Action: "place.reorder", SubjectType: Place, SubjectID: "p"})
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	records := l.Records(Batch{ID: "b", LocationID: "l", At: at}, 7)
	if records[0].Seq != 7 || records[2].Seq != 9 || records[1].BatchID != "b" || records[0].LocationID != "l" {
		t.Errorf("KE-87 %+v", records)
	}
	if u := records[0].UndoUntil; u == nil || !u.Equal(at.Add(7*24*time.Hour)) || records[2].UndoUntil != nil {
		t.Errorf("KE-87 undo until %v", u)
	}
	r := ReceiptOf(records)
	if len(r.AuditEventIDs) != 1 || r.AuditEventIDs[0] != main || r.UndoUntil == nil {
		t.Errorf("KE-143 only what can be undone, without companions: %+v", r)
	}
	if r := ReceiptOf(records[2:]); len(r.AuditEventIDs) != 1 || r.UndoUntil != nil {
		t.Errorf("KE-143 nothing can be undone: %+v", r)
	}
	if r := ReceiptOf(nil); r.AuditEventIDs == nil || len(r.AuditEventIDs) != 0 || r.UndoUntil != nil {
		t.Errorf("KE-143 nothing changed: %+v", r)
	}
}

func TestLogRefuses(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]Entry{
		"no action":            {SubjectType: Thing, SubjectID: "t"},
		"no subject":           {Action: "x", SubjectType: Thing},
		"companion of nothing": {Action: "x", SubjectType: Thing, SubjectID: "t", CompanionOf: "9"},
	} {
		l := NewLog(counter())
		if _, err := l.Add(e); err != nil {
			t.Fatal(err)
		}
		if l.Check() == nil {
			t.Errorf("%s is stored", name)
		}
	}
	broken := errors.New("broken")
	if _, err := NewLog(func() (string, error) { return "", broken }).Add(Entry{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
