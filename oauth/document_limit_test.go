package oauth

import (
	"net/url"
	"testing"
)

func TestFetchOrigin(t *testing.T) {
	t.Parallel()
	for _, spelling := range []string{
		"https://app.example/c", "https://APP.Example/c", "https://app.example:443/c", "https://app.example./c",
	} {
		u, err := url.Parse(spelling)
		if err != nil {
			t.Fatal(err)
		}
		if got := fetchOrigin(u); got != "app.example:443" {
			t.Errorf("CI-15 %s counts as %s", spelling, got)
		}
	}
}
