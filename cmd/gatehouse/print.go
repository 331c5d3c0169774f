package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"gatehouse/app"
)

// print writes v as JSON when asked for, else what text writes.
func (e *env) print(v any, text func(w io.Writer)) error {
	if !e.json {
		text(e.out)
		return nil
	}
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// table writes aligned columns. Cells are one line and free of control characters, since names in them are other
// people's words.
func table(w io.Writer, head string, rows [][]any) {
	t := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
	fmt.Fprintln(t, head)
	for _, r := range rows {
		for i, cell := range r {
			if i > 0 {
				fmt.Fprint(t, "\t")
			}
			fmt.Fprint(t, plain(cell))
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush()
}

func plain(cell any) string {
	switch v := cell.(type) {
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05")
	case *time.Time:
		if v == nil {
			return "–"
		}
		return plain(*v)
	case string:
		if v == "" {
			return "–"
		}
		return app.PlainText(v)
	}
	return app.PlainText(fmt.Sprint(cell))
}

// with opens the installation, runs f and closes. Nothing is made where there is none.
func (e *env) with(f func(a *app.Admin) error) error { return e.on(app.OpenAdmin, f) }

// withNew is with for what may be the first thing that is done: it makes database and key.
func (e *env) withNew(f func(a *app.Admin) error) error { return e.on(app.OpenOrSetUp, f) }

func (e *env) on(open func(context.Context, app.Config, io.Writer) (*app.Admin, error), f func(a *app.Admin) error) error {
	a, err := open(e.ctx, e.cfg, e.errOut)
	if err != nil {
		return err
	}
	defer a.Close()
	return f(a)
}
