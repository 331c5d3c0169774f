package app

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"gatehouse/app/handshake"
	"gatehouse/templates/lang"
)

// stepWords are the titles of steps: when they succeeded, and when a check refused.
var stepWords = map[string]struct{ done, failed string }{
	handshake.StepChallenge:        {lang.Text("The app asked and was told to sign in"), lang.Text("The app's call was refused")},
	handshake.StepResourceMetadata: {lang.Text("The app read what this endpoint is"), lang.Text("The app could not read what this endpoint is")},
	handshake.StepServerMetadata:   {lang.Text("The app read how to sign in here"), lang.Text("The app could not read how to sign in here")},
	handshake.StepRegister:         {lang.Text("The app registered itself"), lang.Text("The app could not register")},
	handshake.StepDocument:         {lang.Text("The app's description was fetched"), lang.Text("The app's description could not be used")},
	handshake.StepAuthorize:        {lang.Text("The app's request was checked"), lang.Text("The app's request was refused")},
	handshake.StepSignedIn:         {lang.Text("You signed in"), lang.Text("The sign-in did not work")},
	handshake.StepConsentShown:     {lang.Text("The consent page was shown"), lang.Text("The consent page could not be shown")},
	handshake.StepDecision:         {lang.Text("You decided"), lang.Text("Your decision could not be carried out")},
	handshake.StepRedirected:       {lang.Text("The browser was sent back to the app"), lang.Text("The browser could not be sent back to the app")},
	handshake.StepCodeRedeemed:     {lang.Text("The app fetched its tokens"), lang.Text("The app could not fetch its tokens")},
	handshake.StepTokenRefreshed:   {lang.Text("The app renewed its tokens"), lang.Text("The app could not renew its tokens")},
	handshake.StepTokenGranted:     {lang.Text("The app got a token"), lang.Text("The app could not get a token")},
	handshake.StepTokenRevoked:     {lang.Text("The app gave back its tokens"), lang.Text("The app could not give back its tokens")},
	handshake.StepReuseDetected:    {lang.Text("An old token was used again"), lang.Text("An old token was used again")},
	handshake.StepFirstRequest:     {lang.Text("The first request with a token"), lang.Text("The first request with a token was refused")},
	handshake.StepFirstToolCall:    {lang.Text("The first tool call"), lang.Text("The first tool call did not work")},
}

// grantWords are the grant types in words; the usual ones say nothing that the title does not.
var grantWords = map[string]string{
	"authorization_code": "", "refresh_token": "",
	"client_credentials":                           lang.Text("By its own credentials."),
	"urn:ietf:params:oauth:grant-type:device_code": lang.Text("By the code of a device."),
	"urn:ietf:params:oauth:grant-type:jwt-bearer":  lang.Text("By an assertion of an identity provider."),
}

func stepTitle(ctx context.Context, step string, ok bool) string {
	words, known := stepWords[step]
	switch {
	case !known:
		return step
	case ok:
		return lang.T(ctx, words.done)
	}
	return lang.T(ctx, words.failed)
}

// registered matches the detail of a registration: how the client proves itself, how many addresses it gave, and the
// host of the first.
var registered = regexp.MustCompile(`^(\w+), (\d+) redirect URIs, first to (.+)$`)

// fetched matches the detail of a fetched description: its status or none, the time it took, and what has changed.
var fetched = regexp.MustCompile(`^(no answer|status \d+), (\d+) ms(?:, changed: (.+))?$`)

// detailWords puts the short fact of a step into plain words; "" when it says nothing that the title does not. What has
// another form than expected stays as it is: it is of use to whoever is asked for help.
func detailWords(ctx context.Context, step string, ok bool, detail string) string {
	if detail == "" {
		return ""
	}
	switch step {
	case handshake.StepChallenge:
		if ok {
			return "" // the HTTP method
		}
	case handshake.StepReuseDetected:
		return "" // an id of ours
	case handshake.StepRegister:
		return registrationWords(ctx, detail)
	case handshake.StepDocument:
		return documentWords(ctx, detail)
	case handshake.StepAuthorize, handshake.StepConsentShown:
		if detail == "device" {
			return lang.T(ctx, "A device without a browser asks; the person enters its code.")
		}
		if strings.Contains(detail, " ") {
			return lang.T(ctx, "Its own description comes next.") // the host of the answer is not known yet
		}
		return lang.T(ctx, "The answer goes to {host}.", "host", detail)
	case handshake.StepDecision:
		return decisionWords(ctx, detail)
	case handshake.StepCodeRedeemed, handshake.StepTokenRefreshed, handshake.StepTokenGranted:
		if words, known := grantWords[detail]; known {
			return lang.T(ctx, words)
		}
		return lang.T(ctx, "Unknown kind of request: {kind}", "kind", detail)
	case handshake.StepTokenRevoked:
		return strings.TrimPrefix(detail, "refresh token: ")
	}
	return detail
}

// decisionWords are those for "denied", "allowed", and either with where the answer goes.
func decisionWords(ctx context.Context, detail string) string {
	words := map[string]string{"allowed": lang.T(ctx, "allowed"), "denied": lang.T(ctx, "denied")}
	decision, host, answered := strings.Cut(detail, ", answer to ")
	said, known := words[decision]
	if !known {
		said = decision
	}
	if !answered {
		return said
	}
	return lang.T(ctx, "{decision}; the answer goes to {host}", "decision", said, "host", host)
}

func registrationWords(ctx context.Context, detail string) string {
	m := registered.FindStringSubmatch(detail)
	if m == nil {
		return detail
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return detail
	}
	words := lang.N(ctx, n, "1 redirect URI, to {host}", "{n} redirect URIs, the first to {host}", "host", m[3])
	if m[1] == "none" {
		return lang.T(ctx, "{addresses}; it has no secret of its own", "addresses", words)
	}
	return lang.T(ctx, "{addresses}; it proves itself with a secret", "addresses", words)
}

func documentWords(ctx context.Context, detail string) string {
	m := fetched.FindStringSubmatch(detail)
	if m == nil {
		return detail
	}
	words := lang.T(ctx, "no answer after {n} ms", "n", m[2])
	if status, found := strings.CutPrefix(m[1], "status "); found {
		words = lang.T(ctx, "status {status} after {n} ms", "status", status, "n", m[2])
	}
	if m[3] != "" {
		return lang.T(ctx, "{answer}; changed: {fields}", "answer", words, "fields", m[3])
	}
	return words
}
