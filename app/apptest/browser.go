package apptest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// Browser is a person at a browser: a cookie jar, an account, and what they choose on the consent page.
type Browser struct {
	Email, Password string
	// Deny answers the consent page with Deny.
	Deny bool
	// Scopes and Locations are ticked on the consent page; nil ticks all that are offered.
	Scopes    []string
	Locations []string
	// Agent is the User-Agent to send; empty sends Go's.
	Agent string

	client *http.Client
}

// NewBrowser makes a browser with an empty cookie jar.
func NewBrowser(email, password string) *Browser {
	jar, _ := cookiejar.New(nil)
	return &Browser{Email: email, Password: password, client: &http.Client{
		Jar: jar, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Through sends the browser's requests over another client's transport; cookies stay the browser's own.
func (b *Browser) Through(c *http.Client) { b.client.Transport = c.Transport }

// Client is the browser's HTTP client with its cookies, for requests that no form makes. It follows no redirects.
func (b *Browser) Client() *http.Client { return b.client }

// Cookies are the cookies that the browser would send to the address.
func (b *Browser) Cookies(address string) []*http.Cookie {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	return b.client.Jar.Cookies(u)
}

// Page is what a request came to: a page, or a redirect away from the server.
type Page struct {
	URL    *url.URL
	Status int
	Header http.Header
	Body   string
	Doc    *html.Node
}

// Get fetches a page, following redirects within the server.
func (b *Browser) Get(address string) (*Page, error) { return b.do(http.MethodGet, address, nil) }

// Post sends a form and follows redirects within the server.
func (b *Browser) Post(address string, form url.Values) (*Page, error) {
	return b.do(http.MethodPost, address, form)
}

// Step is Get, or Post with a form, that stops at the first answer.
func (b *Browser) Step(address string, form url.Values) (*Page, error) {
	if form == nil {
		return b.once(http.MethodGet, address, nil)
	}
	return b.once(http.MethodPost, address, form)
}

func (b *Browser) do(method, address string, form url.Values) (*Page, error) {
	for range 10 {
		page, err := b.once(method, address, form)
		if err != nil {
			return nil, err
		}
		next := page.Header.Get("Location")
		if next == "" || page.Status/100 != 3 {
			return page, nil
		}
		to, err := page.URL.Parse(next)
		if err != nil {
			return nil, err
		}
		if to.Host != page.URL.Host || to.Scheme != page.URL.Scheme {
			return page, nil
		}
		method, address, form = http.MethodGet, to.String(), nil
	}
	return nil, errors.New("too many redirects")
}

func (b *Browser) once(method, address string, form url.Values) (*Page, error) {
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequest(method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/html,application/xhtml+xml")
	if b.Agent != "" {
		req.Header.Set("User-Agent", b.Agent)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", req.URL.Scheme+"://"+req.URL.Host)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	res, err := b.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err != nil {
		return nil, err
	}
	doc, err := html.Parse(strings.NewReader(string(text)))
	return &Page{URL: req.URL, Status: res.StatusCode, Header: res.Header, Body: string(text), Doc: doc}, err
}

// SignIn signs the person in on the sign-in page.
func (b *Browser) SignIn(base string) error {
	page, err := b.Get(base + "/signin")
	if err != nil {
		return err
	}
	if page, err = b.submitSignIn(page); err != nil {
		return err
	}
	if page.Form("password") != nil {
		return fmt.Errorf("sign in: still asked for a password (status %d): %s", page.Status, page.Text())
	}
	return nil
}

func (b *Browser) submitSignIn(page *Page) (*Page, error) {
	form := page.Form("password")
	if form == nil {
		return nil, fmt.Errorf("no sign-in form on %s (status %d): %s", page.URL.Path, page.Status, page.Text())
	}
	form.Values.Set("email", b.Email)
	form.Values.Set("password", b.Password)
	return b.Post(form.Action, form.Values)
}

// Authorize walks an authorization URL: sign-in where asked, then the consent page. It returns the redirect to the
// client, which it does not follow.
func (b *Browser) Authorize(address string) (*url.URL, error) {
	page, err := b.Get(address)
	for range 4 {
		if err != nil {
			return nil, err
		}
		switch {
		case page.Status/100 == 3:
			return page.URL.Parse(page.Header.Get("Location"))
		case page.Form("password") != nil:
			page, err = b.submitSignIn(page)
		case page.Form("decision") != nil:
			page, err = b.decide(page)
		default:
			return nil, fmt.Errorf("%s answered %d: %s", page.URL.Path, page.Status, page.Text())
		}
	}
	return nil, errors.New("the consent page keeps coming back")
}

func (b *Browser) decide(page *Page) (*Page, error) {
	form := page.Form("decision")
	form.Values.Set("decision", "allow")
	if b.Deny {
		form.Values.Set("decision", "deny")
	}
	form.tick("scope", b.Scopes)
	form.tick("location", b.Locations)
	return b.Post(form.Action, form.Values)
}

// Form is a form of a page with the values a browser would send if nothing were changed.
type Form struct {
	Action string
	Values url.Values
	// Options are all values that the boxes of a name offer, ticked or not.
	Options map[string][]string
}

// Tick ticks exactly these of the boxes of a name; nil ticks all.
func (f *Form) Tick(name string, wanted []string) { f.tick(name, wanted) }

func (f *Form) tick(name string, wanted []string) {
	f.Values.Del(name)
	for _, v := range f.Options[name] {
		if wanted == nil || slices.Contains(wanted, v) {
			f.Values.Add(name, v)
		}
	}
}

// Form finds the first form that has a field or button of this name.
func (p *Page) Form(field string) *Form {
	for form := range p.Doc.Descendants() {
		if form.Type != html.ElementNode || form.Data != "form" {
			continue
		}
		f, names := p.readForm(form)
		if slices.Contains(names, field) {
			return f
		}
	}
	return nil
}

// FormTo finds the first form whose action's path ends so.
func (p *Page) FormTo(suffix string) *Form {
	for form := range p.Doc.Descendants() {
		if form.Type != html.ElementNode || form.Data != "form" {
			continue
		}
		f, _ := p.readForm(form)
		if strings.HasSuffix(f.Action, suffix) {
			return f
		}
	}
	return nil
}

func (p *Page) readForm(form *html.Node) (*Form, []string) {
	action, err := p.URL.Parse(attr(form, "action"))
	if err != nil {
		action = p.URL
	}
	f := &Form{Action: action.String(), Values: url.Values{}, Options: map[string][]string{}}
	var names []string
	for n := range form.Descendants() {
		name := attr(n, "name")
		if n.Type != html.ElementNode || name == "" {
			continue
		}
		names = append(names, name)
		f.readField(n, name)
	}
	return f, names
}

func (f *Form) readField(n *html.Node, name string) {
	kind := attr(n, "type")
	switch {
	case n.Data == "button":
	case n.Data == "select":
		for o := range n.Descendants() {
			if o.Data == "option" && (hasAttr(o, "selected") || !f.Values.Has(name)) {
				f.Values.Set(name, attr(o, "value"))
			}
		}
	case kind == "checkbox" || kind == "radio":
		f.Options[name] = append(f.Options[name], attr(n, "value"))
		if hasAttr(n, "checked") {
			f.Values.Add(name, attr(n, "value"))
		}
	case n.Data == "input" || n.Data == "textarea":
		f.Values.Add(name, attr(n, "value"))
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// Text is the page's text, shortened, for messages.
func (p *Page) Text() string {
	var b strings.Builder
	for n := range p.Doc.Descendants() {
		if n.Type == html.TextNode && n.Parent != nil && n.Parent.Data != "style" && n.Parent.Data != "title" {
			if t := strings.Join(strings.Fields(n.Data), " "); t != "" {
				b.WriteString(t + " ")
			}
		}
	}
	return b.String()[:min(600, b.Len())]
}
