package app

import (
	"regexp"
	"strings"

	"gatehouse/app/handshake"
)

// stepWords are the titles of steps: when they succeeded, and when a check refused.
var stepWords = map[string]struct{ done, failed string }{
	handshake.StepChallenge:        {"The app asked and was told to sign in", "The app's call was refused"},
	handshake.StepResourceMetadata: {"The app read what this endpoint is", "The app could not read what this endpoint is"},
	handshake.StepServerMetadata:   {"The app read how to sign in here", "The app could not read how to sign in here"},
	handshake.StepRegister:         {"The app registered itself", "The app could not register"},
	handshake.StepDocument:         {"The app's description was fetched", "The app's description could not be used"},
	handshake.StepAuthorize:        {"The app's request was checked", "The app's request was refused"},
	handshake.StepSignedIn:         {"You signed in", "The sign-in did not work"},
	handshake.StepConsentShown:     {"The consent page was shown", "The consent page could not be shown"},
	handshake.StepDecision:         {"You decided", "Your decision could not be carried out"},
	handshake.StepRedirected:       {"The browser was sent back to the app", "The browser could not be sent back to the app"},
	handshake.StepCodeRedeemed:     {"The app fetched its tokens", "The app could not fetch its tokens"},
	handshake.StepTokenRefreshed:   {"The app renewed its tokens", "The app could not renew its tokens"},
	handshake.StepTokenGranted:     {"The app got a token", "The app could not get a token"},
	handshake.StepTokenRevoked:     {"The app gave back its tokens", "The app could not give back its tokens"},
	handshake.StepReuseDetected:    {"An old token was used again", "An old token was used again"},
	handshake.StepFirstRequest:     {"The first request with a token", "The first request with a token was refused"},
	handshake.StepFirstToolCall:    {"The first tool call", "The first tool call did not work"},
}

// grantWords are the grant types in words; the usual ones say nothing that the title does not.
var grantWords = map[string]string{
	"authorization_code": "", "refresh_token": "",
	"client_credentials":                           "By its own credentials.",
	"urn:ietf:params:oauth:grant-type:device_code": "By the code of a device.",
	"urn:ietf:params:oauth:grant-type:jwt-bearer":  "By an assertion of an identity provider.",
}

func stepTitle(step string, ok bool) string {
	words, known := stepWords[step]
	switch {
	case !known:
		return step
	case ok:
		return words.done
	}
	return words.failed
}

// registered matches the detail of a registration: how the client proves itself, how many addresses it gave, and the
// host of the first.
var registered = regexp.MustCompile(`^(\w+), (\d+) redirect URIs, first to (.+)$`)

// fetched matches the detail of a fetched description: its status or none, the time it took, and what has changed.
var fetched = regexp.MustCompile(`^(no answer|status \d+), (\d+) ms(?:, changed: (.+))?$`)

// detailWords puts the short fact of a step into plain words; "" when it says nothing that the title does not. What has
// another form than expected stays as it is: it is of use to whoever is asked for help.
func detailWords(step string, ok bool, detail string) string {
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
		return registrationWords(detail)
	case handshake.StepDocument:
		return documentWords(detail)
	case handshake.StepAuthorize, handshake.StepConsentShown:
		if detail == "device" {
			return "A device without a browser asks; the person enters its code."
		}
		if strings.Contains(detail, " ") {
			return "Its own description comes next." // the host of the answer is not known yet
		}
		return "The answer goes to " + detail + "."
	case handshake.StepDecision:
		return strings.Replace(detail, ", answer to ", "; the answer goes to ", 1)
	case handshake.StepCodeRedeemed, handshake.StepTokenRefreshed, handshake.StepTokenGranted:
		if words, known := grantWords[detail]; known {
			return words
		}
		return "Unknown kind of request: " + detail
	case handshake.StepTokenRevoked:
		return strings.TrimPrefix(detail, "refresh token: ")
	}
	return detail
}

func registrationWords(detail string) string {
	m := registered.FindStringSubmatch(detail)
	if m == nil {
		return detail
	}
	words := m[2] + " redirect URIs, the first to " + m[3]
	if m[2] == "1" {
		words = "1 redirect URI, to " + m[3]
	}
	if m[1] == "none" {
		return words + "; it has no secret of its own"
	}
	return words + "; it proves itself with a secret"
}

func documentWords(detail string) string {
	m := fetched.FindStringSubmatch(detail)
	if m == nil {
		return detail
	}
	words := m[1] + " after " + m[2] + " ms"
	if m[3] != "" {
		words += "; changed: " + m[3]
	}
	return words
}
