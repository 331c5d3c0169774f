package web

const signIn = "Sign in"

var later = lang.Text("Later")

func page(ctx context.Context, c echo.Context, n int, name string) error {
	lang.T(ctx, signIn)
	lang.T(ctx, signIn+" now")
	lang.T(ctx, name)
	lang.T(ctx, later)
	lang.N(ctx, n, "One app", "{n} apps")
	say(c, "Said", "name", "no text")
	other.T(ctx, "Another package's")
	return &PageError{Title: "Nothing here", Advice: []string{"Look elsewhere"}, Code: "code"}
}
