package web

import (
	"net/http"
	"time"

	"gatehouse/oauth"

	"gatehouse/templates/lang"
)

func notFoundPage() *PageError {
	return &PageError{
		Status: http.StatusNotFound, Title: lang.Text("There is nothing here"),
		What: lang.Text("This page does not exist, or it is not yours to see."), Advice: []string{lang.Text("Go to the start page and look from there.")},
	}
}

func linkGonePage() *PageError {
	return &PageError{
		Status: http.StatusGone, Title: lang.Text("This link no longer works"),
		What:   lang.Text("It was used before, replaced by a newer one, or it is more than a day old."),
		Advice: []string{lang.Text("For a reset link: ask your administrator for a new one."), lang.Text("For the set-up link: start Gatehouse again; it prints a new one.")},
	}
}

func tooManyPage(wait time.Duration) *PageError {
	return &PageError{
		Status: http.StatusTooManyRequests, Title: lang.Text("Too many tries"), RetryAfter: wait,
		What: lang.Text("There were too many tries in a short time."), Advice: []string{lang.Text("Wait for a moment and try again.")},
	}
}

// startAgain is what helps when a client's registration is gone: the client cannot see that itself.
var startAgain = []string{
	lang.Text("In Claude or ChatGPT: remove the connector, then add it again."),
	lang.Text("In a program on your computer: sign out of this server there, then connect again."),
}

// protocolPage explains an error that cannot go back to the client. Its status is 400 for whatever the request got
// wrong; there is no client authentication here that 401 could speak of.
func protocolPage(e *oauth.Error) *PageError {
	p := &PageError{
		Status: e.Status, Title: lang.Text("This did not work"), What: lang.Text("The app's request could not be carried out."),
		Code: e.Code, Detail: e.Description, RetryAfter: e.RetryAfter, Cause: e.Cause,
	}
	if explainDocument(p, e) {
		return p
	}
	switch {
	case e.Status == http.StatusNotFound:
		return notFoundPage()
	case e.Status == http.StatusMethodNotAllowed:
		p.Title, p.What, p.Code, p.Detail = lang.Text("This cannot be done here"), lang.Text("The page does not take this kind of request."), "", ""
		return p
	case e.Status == http.StatusTooManyRequests:
		return tooManyPage(e.RetryAfter)
	case e.Status == http.StatusServiceUnavailable:
		p.Title, p.What = lang.Text("Not available right now"), lang.Text("Gatehouse could not answer. Nothing was changed.")
		p.Advice = []string{lang.Text("Wait for a moment and load the page again.")}
		return p
	case e.Status >= http.StatusInternalServerError:
		p.Title, p.What, p.Detail = lang.Text("Something went wrong"), lang.Text("The fault is on our side. Nothing was approved."), ""
		p.Advice = []string{lang.Text("Try again. If it happens once more, tell your administrator the number below.")}
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
	case e.Check == "client_pending":
		p.Title, p.What = lang.Text("This app waits for your administrator"), lang.Text("Nothing was connected yet.")
		p.Why = lang.Text("The app registered itself, and an administrator of this server has to approve it before anybody can use it.")
		p.Advice = []string{lang.Text("Ask your administrator to approve the app."), lang.Text("Then start the connection again from the app.")}
	case e.Check == "host_blocked":
		p.Title, p.What = lang.Text("This app is not allowed here"), lang.Text("Nothing was connected.")
		p.Why = lang.Text("Your administrator decides which hosts apps may come from and send answers to. This one is not among them.")
		p.Advice = []string{lang.Text("If you need the app, ask your administrator to allow its host.")}
	case e.Check == "browser":
		p.Title, p.What = lang.Text("This request was begun in another browser"), lang.Text("Nothing was connected, and nothing of the request is shown here.")
		p.Why = lang.Text("A request can be decided only in the browser that the app opened.")
		p.Advice = []string{lang.Text("Start the connection again from the app, in the browser that you want to use.")}
	case e.Check == "request":
		p.Title, p.What = lang.Text("This request is over"), lang.Text("The app's request is unknown or has expired.")
		p.Why, p.Advice = lang.Text("A request waits ten minutes for your answer."), []string{lang.Text("Start the connection again from the app.")}
	case e.Code == "invalid_client" || e.Check == "client":
		p.Title, p.What = lang.Text("This app is not known here"), lang.Text("Nothing was connected.")
		p.Why = lang.Text("The app uses a registration that this server does not have, often because it was removed or the app was connected to another server before.")
		p.Advice = startAgain
	case e.Check == "redirect_uri":
		p.Title, p.What = lang.Text("This app gave a wrong address"), lang.Text("Nothing was connected, and nothing was sent to that address.")
		p.Why = lang.Text("The address the app wants the answer sent to is not one that it registered.")
		p.Advice = startAgain
	default:
		p.Advice = []string{lang.Text("Start again from the app. If it happens once more, tell the app's developer what stands below.")}
	}
}
