package oauth_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net/url"

	"gatehouse/oauth"
	"gatehouse/oauth/oauthtest"
)

// The authorization code flow from the client's request to the resource server's check. The program around it shows the
// pages and speaks HTTP.
func Example() {
	ctx := context.Background()
	store, clock := oauthtest.NewMemory(), oauthtest.NewClock()
	store.AddUser("alice")
	server, err := oauth.New(oauth.Config{
		Issuer: "https://auth.example",
		Resources: []oauth.Resource{{
			URI:    "https://auth.example/mcp",
			Scopes: []oauth.Scope{{Name: "notes:read", Baseline: true}, {Name: "notes:write", Implies: []string{"notes:read"}}},
		}},
		Sealer: oauthtest.NewSealer("a key from outside the database"),
		Now:    clock.Now,
		Rand:   rand.Reader,
	}, store.Stores())
	if err != nil {
		log.Fatal(err)
	}
	if err := server.EnsureKeys(ctx); err != nil {
		log.Fatal(err)
	}
	client := &oauth.Client{
		ID: "editor", Kind: oauth.ClientRegistered, AuthMethods: []string{oauth.AuthNone},
		RedirectURIs: []string{"https://editor.example/callback"}, GrantTypes: []string{oauth.GrantAuthorizationCode},
	}
	if err := store.SaveClient(ctx, client); err != nil {
		log.Fatal(err)
	}

	// GET /authorize: check and store the request, then see what it waits for.
	request, err := server.BeginAuthorization(ctx, url.Values{
		"response_type": {"code"}, "client_id": {"editor"}, "state": {"xyz"}, "scope": {"notes:write"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"},
	}, false)
	if err != nil {
		log.Fatal(err)
	}
	prompt, err := server.ResumeAuthorization(ctx, request.ID, oauth.ResourceOwner{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("nobody signed in:", prompt.Next)
	alice := oauth.ResourceOwner{UserID: "alice", AuthTime: clock.Now()}
	prompt, err = server.ResumeAuthorization(ctx, request.ID, alice)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("alice signed in:", prompt.Next, prompt.Offered)

	// The consent page was sent: alice allows all of it.
	answer, err := server.Decide(ctx, request.ID, alice, oauth.Decision{Allow: true, Scopes: []string{"notes:read", "notes:write"}})
	if err != nil {
		log.Fatal(err)
	}
	callback, err := url.Parse(answer.RedirectURI)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("back at", answer.Host, "with state", callback.Query().Get("state"))

	// POST /token.
	tokens, err := server.Token(ctx, url.Values{
		"grant_type": {"authorization_code"}, "code": {callback.Query().Get("code")},
		"code_verifier": {"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
	}, oauth.ClientAuthentication{ClientID: "editor"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tokens.TokenType, tokens.ExpiresIn, tokens.Scope)

	// The resource server.
	token, err := server.VerifyAccessToken(ctx, tokens.AccessToken, "https://auth.example/mcp")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(token.Subject, token.Scopes)
	// Output:
	// nobody signed in: sign_in
	// alice signed in: consent [{notes:read true} {notes:write true}]
	// back at editor.example with state xyz
	// Bearer 3600 notes:read notes:write
	// alice [notes:read notes:write]
}
