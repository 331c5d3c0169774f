package lang

import (
	"context"
	"time"
)

// dates are the dates of each month. A key per month, since "May" alone means other things elsewhere.
var dates = [...]string{
	Text("{day} January {year}"), Text("{day} February {year}"), Text("{day} March {year}"), Text("{day} April {year}"),
	Text("{day} May {year}"), Text("{day} June {year}"), Text("{day} July {year}"), Text("{day} August {year}"),
	Text("{day} September {year}"), Text("{day} October {year}"), Text("{day} November {year}"), Text("{day} December {year}"),
}

// Date is the day of a moment, in UTC: 2 March 2026.
func Date(ctx context.Context, t time.Time) string {
	t = t.UTC()
	return T(ctx, dates[t.Month()-1], "day", t.Day(), "year", t.Year())
}

// DateTime is a moment to the minute, in UTC: people's time zones are not known, so the text names it.
func DateTime(ctx context.Context, t time.Time) string {
	t = t.UTC()
	return T(ctx, "{date}, {time} UTC", "date", Date(ctx, t), "time", t.Format("15:04"))
}

// Since says how long ago a moment was; a date when that is long or when it has not come yet.
func Since(ctx context.Context, t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < 0:
		return Date(ctx, t)
	case d < time.Minute:
		return T(ctx, "just now")
	case d < time.Hour:
		return N(ctx, int(d/time.Minute), "1 minute ago", "{n} minutes ago")
	case d < 24*time.Hour:
		return N(ctx, int(d/time.Hour), "1 hour ago", "{n} hours ago")
	case d < 14*24*time.Hour:
		return N(ctx, int(d/(24*time.Hour)), "1 day ago", "{n} days ago")
	}
	return Date(ctx, t)
}
