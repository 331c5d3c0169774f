package templates

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"
	"strings"
)

//go:embed static
var staticFiles embed.FS

// Asset is a file served under /static. Its name contains a hash of its content, so it can be cached for ever.
type Asset struct {
	Path        string
	ContentType string
	Body        []byte
}

// The assets that pages refer to.
var (
	Stylesheet = asset("gatehouse.css", "text/css; charset=utf-8")
	Icon       = asset("gatehouse.svg", "image/svg+xml")
	// PasskeyScript is on the few pages that talk to an authenticator.
	PasskeyScript = asset("passkey.js", "text/javascript; charset=utf-8")
	// LiveScript is on the page that shows attempts as they happen.
	LiveScript = asset("live.js", "text/javascript; charset=utf-8")
)

// Assets are all files to serve.
func Assets() []Asset { return []Asset{Stylesheet, Icon, PasskeyScript, LiveScript} }

func asset(name, contentType string) Asset {
	body, err := staticFiles.ReadFile("static/" + name)
	if err != nil {
		// The file is compiled in: only a build without it gets here, and then every page would be unstyled.
		panic(err)
	}
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	return Asset{Path: "/static/" + hashed, ContentType: contentType, Body: body}
}
