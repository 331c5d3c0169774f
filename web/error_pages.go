package web

import (
	"net/http"
	"time"

	"gatehouse/oauth"
)

func notFoundPage() *PageError {
	return &PageError{
		Status: http.StatusNotFound, Title: "There is nothing here",
		What: "This page does not exist, or it is not yours to see.", Advice: []string{"Go to the start page and look from there."},
	}
}

func linkGonePage() *PageError {
	return &PageError{
		Status: http.StatusGone, Title: "This link no longer works",
		What:   "It was used before, replaced by a newer one, or it is more than a day old.",
		Advice: []string{"For a reset link: ask your administrator for a new one.", "For the set-up link: start Gatehouse again; it prints a new one."},
	}
}

func tooManyPage(wait time.Duration) *PageError {
	return &PageError{
		Status: http.StatusTooManyRequests, Title: "Too many tries", RetryAfter: wait,
		What: "There were too many tries in a short time.", Advice: []string{"Wait for a moment and try again."},
	}
}

// startAgain is what helps when a client's registration is gone: the client cannot see that itself.
var startAgain = []string{
	"In Claude or ChatGPT: remove the connector, then add it again.",
	"In a program on your computer: sign out of this server there, then connect again.",
}

// protocolPage explains an error that cannot go back to the client. Its status is 400 for whatever the request got
// wrong; there is no client authentication here that 401 could speak of.
func protocolPage(e *oauth.Error) *PageError {
	p := &PageError{
		Status: e.Status, Title: "This did not work", What: "The app's request could not be carried out.",
		Code: e.Code, Detail: e.Description, RetryAfter: e.RetryAfter, Cause: e.Cause,
	}
	if explainDocument(p, e) {
		return p
	}
	switch {
	case e.Status == http.StatusNotFound:
		return notFoundPage()
	case e.Status == http.StatusMethodNotAllowed:
		p.Title, p.What, p.Code, p.Detail = "This cannot be done here", "The page does not take this kind of request.", "", ""
		return p
	case e.Status == http.StatusTooManyRequests:
		return tooManyPage(e.RetryAfter)
	case e.Status == http.StatusServiceUnavailable:
		p.Title, p.What = "Not available right now", "Gatehouse could not answer. Nothing was changed."
		p.Advice = []string{"Wait for a moment and load the page again."}
		return p
	case e.Status >= http.StatusInternalServerError:
		p.Title, p.What, p.Detail = "Something went wrong", "The fault is on our side. Nothing was approved.", ""
		p.Advice = []string{"Try again. If it happens once more, tell your administrator the number below."}
		return p
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		p.Status = http.StatusBadRequest
	}
	explain(p, e)
	return p
}

// explain adds the likely cause and what to do, by the check that refused.
func explain(p *PageError, e *oauth.Error) {
	switch {
	case e.Check == "request":
		p.Title, p.What = "This request is over", "The app's request is unknown or has expired."
		p.Why, p.Advice = "A request waits ten minutes for your answer.", []string{"Start the connection again from the app."}
	case e.Code == "invalid_client" || e.Check == "client":
		p.Title, p.What = "This app is not known here", "Nothing was connected."
		p.Why = "The app uses a registration that this server does not have, often because it was removed or the app was connected to another server before."
		p.Advice = startAgain
	case e.Check == "redirect_uri":
		p.Title, p.What = "This app gave a wrong address", "Nothing was connected, and nothing was sent to that address."
		p.Why = "The address the app wants the answer sent to is not one that it registered."
		p.Advice = startAgain
	default:
		p.Advice = []string{"Start again from the app. If it happens once more, tell the app's developer what stands below."}
	}
}
