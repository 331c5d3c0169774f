package apptest

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Tokens is a token answer.
type Tokens struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int    `json:"expires_in"`
	Scope        string `json:"scope"`

	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// Client is an OAuth client of the plainest kind, for tests that look at single steps.
type Client struct {
	Base, ID, Secret, Redirect, Scope, Verifier string
	HTTP                                        *http.Client
}

// RegisterClient registers a public client with one redirect URI.
func RegisterClient(base, redirect string) (*Client, error) {
	body, _ := json.Marshal(map[string]any{
		"client_name": "Test client", "redirect_uris": []string{redirect}, "token_endpoint_auth_method": "none",
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
	})
	res, err := http.Post(base+"/register", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	var answer struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || res.StatusCode != http.StatusCreated {
		return nil, fmt.Errorf("register: %d %s", res.StatusCode, text)
	}
	return NewClient(base, answer.ID, redirect), nil
}

// NewClient makes a client of an id that is known already, with a fresh PKCE verifier.
func NewClient(base, id, redirect string) *Client {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	return &Client{Base: base, ID: id, Redirect: redirect, Scope: "home:read home:write",
		Verifier: base64.RawURLEncoding.EncodeToString(raw), HTTP: &http.Client{Timeout: 30 * time.Second}}
}

// AuthorizeURL is the authorization request.
func (c *Client) AuthorizeURL() string {
	sum := sha256.Sum256([]byte(c.Verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {c.ID}, "redirect_uri": {c.Redirect}, "state": {"st-1"}, "resource": {c.Base + "/mcp"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	if c.Scope != "" {
		q.Set("scope", c.Scope)
	}
	return c.Base + "/authorize?" + q.Encode()
}

// Code sends a person through the authorization request and returns the code.
func (c *Client) Code(b *Browser) (string, error) {
	to, err := b.Authorize(c.AuthorizeURL())
	if err != nil {
		return "", err
	}
	q := to.Query()
	switch {
	case q.Get("code") == "":
		return "", fmt.Errorf("no code came back: %s %s", q.Get("error"), q.Get("error_description"))
	case q.Get("state") != "st-1":
		return "", fmt.Errorf("state came back as %q", q.Get("state"))
	case q.Get("iss") != c.Base:
		return "", fmt.Errorf("iss is %q", q.Get("iss"))
	}
	return q.Get("code"), nil
}

// Token posts a form to the token endpoint. Status 200 or not, the answer is parsed.
func (c *Client) Token(form url.Values) (int, *Tokens, error) {
	if !form.Has("client_id") {
		form.Set("client_id", c.ID)
	}
	if c.Secret != "" {
		form.Set("client_secret", c.Secret)
	}
	res, err := c.HTTP.PostForm(c.Base+"/token", form)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	t := &Tokens{}
	if err := json.Unmarshal(text, t); err != nil {
		return res.StatusCode, nil, fmt.Errorf("token endpoint: %d %s", res.StatusCode, text)
	}
	return res.StatusCode, t, nil
}

// Redeem exchanges a code.
func (c *Client) Redeem(code string) (int, *Tokens, error) {
	return c.Token(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {c.Redirect},
		"code_verifier": {c.Verifier}, "resource": {c.Base + "/mcp"}})
}

// Refresh exchanges a refresh token.
func (c *Client) Refresh(token string) (int, *Tokens, error) {
	return c.Token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

// Connect does everything from the authorization request to the tokens.
func (c *Client) Connect(b *Browser) (*Tokens, error) {
	code, err := c.Code(b)
	if err != nil {
		return nil, err
	}
	status, t, err := c.Redeem(code)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("redeem: %d %s: %s", status, t.Error, t.Description)
	}
	return t, err
}

// RPC is a JSON-RPC answer with its HTTP frame.
type RPC struct {
	Status int
	Header http.Header
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	Body string
}

// Call sends one JSON-RPC request of revision 2025-06-18 to /mcp. params is JSON or empty.
func Call(base, token, method, params string) (*RPC, error) {
	return CallBy(http.DefaultClient, base, token, method, params)
}

// CallBy is Call over a client of the caller's.
func CallBy(client *http.Client, base, token, method, params string) (*RPC, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `"`
	if params != "" {
		body += `,"params":` + params
	}
	req, err := http.NewRequest(http.MethodPost, base+"/mcp", strings.NewReader(body+"}"))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", "2025-06-18")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	out := &RPC{Status: res.StatusCode, Header: res.Header, Body: string(text)}
	if len(text) > 0 {
		if err := json.Unmarshal(text, out); err != nil {
			return out, fmt.Errorf("/mcp answered %d with something other than JSON-RPC: %s", res.StatusCode, text)
		}
	}
	return out, nil
}

// CallTool calls a tool and returns the text of its result and whether it is an error.
func CallTool(base, token, name, arguments string) (text string, isError bool, err error) {
	return CallToolBy(http.DefaultClient, base, token, name, arguments)
}

// CallToolBy is CallTool over a client of the caller's.
func CallToolBy(client *http.Client, base, token, name, arguments string) (text string, isError bool, err error) {
	r, err := CallBy(client, base, token, "tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`)
	if err != nil {
		return "", false, err
	}
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if r.Error != nil || r.Status != http.StatusOK {
		return "", false, fmt.Errorf("%s: %d %s", name, r.Status, r.Body)
	}
	if err := json.Unmarshal(r.Result, &result); err != nil || len(result.Content) != 1 {
		return "", false, fmt.Errorf("%s: unexpected result %s", name, r.Result)
	}
	return result.Content[0].Text, result.IsError, nil
}
