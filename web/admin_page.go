package web

import (
	"context"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	// adminListed is how many things a page of a list shows.
	adminListed = 25
	// adminPages bounds how far a list can be paged: beyond it a filter serves better.
	adminPages = 1000
)

// pageNumber is the page of a list that is asked for, from 1 on.
func pageNumber(c echo.Context) int {
	n, err := strconv.Atoi(c.QueryParam("page"))
	if err != nil || n < 1 || n > adminPages {
		return 1
	}
	return n
}

func offsetOf(page int) int { return (page - 1) * adminListed }

// pageLinks are the ways to the pages of a list beside this one. The pairs are the filter's parameters.
func pageLinks(path string, page int, more bool, pairs ...string) (newer, older templ.SafeURL) {
	if page > 1 {
		number := ""
		if page > 2 {
			number = strconv.Itoa(page - 1)
		}
		newer = pathWith(path, append(pairs, "page", number)...)
	}
	if more && page < adminPages {
		older = pathWith(path, append(pairs, "page", strconv.Itoa(page+1))...)
	}
	return newer, older
}

// fact is a fact of texts; none when all of them are empty.
func fact(facts []templates.AdminFactView, label string, texts ...string) []templates.AdminFactView {
	var kept []string
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return facts
	}
	return append(facts, templates.AdminFactView{Label: label, Texts: kept})
}

// timeFact is a fact that is a moment; none when there is none.
func (h *Handlers) timeFact(ctx context.Context, facts []templates.AdminFactView, label string, at *time.Time) []templates.AdminFactView {
	if at == nil {
		return facts
	}
	return append(facts, templates.AdminFactView{Label: label, Time: h.timeViewOf(ctx, at)})
}

// back leads to a list.
func back(ctx context.Context, path, label string) templates.LinkView {
	return templates.LinkView{Path: templ.SafeURL(path), Label: lang.T(ctx, label)}
}

// button is a form of one button under a purpose of its own.
func button(v *visit, action, purpose, label, about string) templates.ButtonView {
	return templates.ButtonView{Action: templ.SafeURL(action), Token: v.formToken(purpose), Label: label, About: about}
}

// dangerButton is a button that ends something.
func dangerButton(v *visit, action, purpose, label, about string) templates.ButtonView {
	b := button(v, action, purpose, label, about)
	b.Danger = true
	return b
}
