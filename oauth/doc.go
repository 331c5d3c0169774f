// Package oauth is an OAuth 2.1 authorization server without HTTP and without tables, together with the resource
// server's check of its tokens.
//
// # Purpose
//
// A Server decides: whether a client is who it says, whether a request may be shown to a person, what their answer means,
// which tokens follow, and whether a token that comes back is one of its own. It is written for clients that introduce
// themselves (by registration or by a metadata document) and for protected resources of the kind that the Model Context
// Protocol describes, and it knows nothing of what those resources hold.
//
//	PushAuthorization                                                       the pushed request endpoint
//	BeginAuthorization → ResumeAuthorization (sign in, consent) → Decide     the authorization endpoint
//	Token                                                                   the token endpoint
//	AuthorizeDevice → PromptDevice → DecideDevice                           the device authorization endpoint and its page
//	Revoke                                                                  the revocation endpoint
//	Introspect                                                              the introspection endpoint
//	UserInfo                                                                the userinfo endpoint
//	QueryGrant, RevokeGrant                                                 the grant management API
//	Register, metadata documents, JWKS                                      introduction and discovery
//	ReadRegistration, ReplaceRegistration, DeleteRegistration               the client configuration endpoint
//	VerifyAccessToken, VerifyBoundToken, CheckStored, Meets                 the resource server
//	EnsureKeys, MaintainKeys, RotateKeys, DropKey                           start, job and administration
//
// The durable thing is the connection: one person, one client, one resource. It is written when a code is exchanged, by an
// administrator for a client that acts by its own credentials, or for an assertion of a trusted issuer.
// Each exchanged code starts a family under it, one installation of the client; tokens belong to the family. Approving
// again updates the connection for all its families. Reuse of a refresh token or a code ends the family; revocation by
// the client ends the connection.
//
// # Border
//
// The program around it brings pages, forms, sessions and sign-in (ResourceOwner), the stores (Stores; oauthtest holds
// their contract), a sealer for private keys, a guarded fetcher for client documents and key sets, the clock and the randomness. It
// answers X-1… of HTTP: methods, headers, limits. After VerifyAccessToken it must read
// whether connection, family and person still live and whether the token's ID was revoked; this package cannot know it
// without that read. AccessToken.Scopes give way to the connection's current scopes unless AccessToken.Narrowed.
//
// # Errors
//
// Every error for a client is an *Error, made by one constructor per code. Until client and redirect URI are proven the
// authorization endpoint returns an *Error, which is to be shown; afterwards a *RedirectError, which is to be sent. A
// RedirectError or AuthorizationResponse that is Untrusted is to be shown with a link. A store that fails gives
// temporarily_unavailable: clients throw tokens away on invalid_grant, and their registration on invalid_client.
//
// # What it must never do
//
// Keep state in memory that must survive or that two processes could disagree on. Redirect before client and redirect
// URI are proven. Use a code or a token up before everything that can be refused was checked. Compare redirect URIs by
// anything but their bytes (a loopback port aside). Read the algorithm of a signature from the token alone. Put a secret
// into an error, a Step or a store other than as its hash or sealed. Name the real clock.
//
// # Ledger
//
//	spec                              sections         file                     status, departures
//	OAuth 2.1 draft-16                2.3, 8.4         redirect_uri.go          full; localhost gets the loopback exception too
//	                                  2.4              client_auth.go           none, basic, post; no mutual TLS
//	                                  3.1, 4.1.1       authorize_request.go     full; PKCE from every client; response_mode query
//	                                  4.1.2, 7.13.2    authorize.go             full; consent asked each time
//	                                                   decision.go, code.go     code 60 s
//	                                  3.2              token.go, token_*.go     full
//	                                  4.1.3, 7.5.2     token_code.go            a replay ends the code's family, a wrong one nothing
//	                                  4.2              direct_grant.go          full; each token stands on a connection; see below
//	                                  4.3              token_refresh.go         rotation for public clients without a key; see below
//	RFC 6749                          3.3, 5.2         scope.go, errors.go      full; unknown scopes fall away beside known ones
//	RFC 6750                          3.1              errors.go                codes only; the challenge is the resource server's
//	RFC 7009                          2                revoke.go                full; a foreign token: 200 without effect
//	RFC 7515, 7517, 7638              as used          keyring.go, jwks.go      own signing keys, each algorithm for itself;
//	                                                   key_*.go, client_keys.go public keys of clients in RS256, PS256, ES256,
//	                                                                            EdDSA
//	RFC 7521, 7523, rfc7523bis        as cited         client_assertion.go      client authentication; aud is the issuer, or
//	                                                                            the token endpoint from untyped assertions
//	RFC 7523                          2.1, 3.1         id_jag.go                assertions of the profile ID-JAG alone
//	Identity assertion grant (ID-JAG) 4.4              id_jag.go                full but authorization_details, which are refused
//	RFC 7591                          1.2, 2, 3        register.go, policy.go   full but software statements
//	RFC 7592                          2, 3             register_manage.go       full; the token is not rotated, and a secret is shown
//	                                                                            only by the answer that made it
//	RFC 7636                          4                pkce.go                  S256 only
//	RFC 7662, 9701                    2, 4; 4, 5       introspect.go            full; a client sees its own tokens alone
//	RFC 8252                          7, 8             redirect_uri.go          full
//	RFC 8414                          2, 3             metadata.go              full; also under the name of OpenID discovery
//	RFC 8707                          2                resource_indicator.go    one resource a request; scheme and host without case
//	RFC 8628, 10027                   3, 5, 6.1        device.go,               full; clients on a list alone; a poll may come one
//	                                                   token_device.go          second early
//	RFC 8725                          3                verify.go,               as far as access tokens and client assertions go
//	                                                   client_assertion.go
//	RFC 9068                          2, 4             access_token.go, verify.go  full; ES256 by default, RS256 selectable; a
//	                                                   opaque_token.go          resource may choose tokens that are looked up
//	RFC 9126                          2, 4, 6          pushed_request.go        full but request objects; assertions name the
//	                                                                            issuer, not the endpoint, as audience
//	RFC 9207                          2                decision.go              iss on every answer
//	RFC 9449                          4 to 7, 10       dpop.go, dpop_url.go     full but server nonces (8, 9), which are optional;
//	                                                                            proofs last 60 s to either side; never demanded
//	RFC 9470                          3 to 6           strength.go              full; unknown acr values demand nothing
//	RFC 9700                          2, 4             as cited                 followed
//	RFC 9728                          2, 3             metadata.go              full
//	Client ID metadata documents      3 to 6, 8        client_document.go,      full; logos are the embedding program's
//	                                                   policy.go
//	OpenID Connect Core               2, 3.1, 5.3, 5.4 openid.go, userinfo.go   code flow, openid and email; no claims parameter,
//	                                                   authorize_request.go     id_token_hint, request objects, encryption
//	OpenID Connect Discovery          3, 4             metadata.go              full
//	RFC 9396                          2, 5 to 7, 9, 10  authorization_details.go full; types are the program's, one resource a request
//	FAPI grant management draft-03    5 to 7           grant_management.go      full; its API takes a token of the same client and
//	                                                                            person, since there is no client_credentials
//	RFC 9101                          –                –                        not supported, and not advertised
//
// Departures with their reasons:
//
//   - Rotation (OAuth 2.1 §4.3.1). The direct predecessor of a refresh token fetches the same successor again while that
//     was never used. An answer that got lost would otherwise cost the session, and programs that share one stored token
//     would end one another's. A token whose successor was used is reuse. Resource.RefreshGrace zero switches this off.
//   - Reuse ends the family and not the connection: installations of one client share its id, and a stumble of one must
//     not sign the others out.
//   - Tokens of confidential clients and of families bound to a key are not rotated; §4.3.1 asks it of public clients
//     without one, and each rotation can go wrong.
//   - A family that began without a proof is bound by the first refresh with one, as a whole: its earlier tokens need the
//     key from then on too.
//   - Tokens by a client's own credentials (OAuth 2.1 §4.2) stand on a connection of a person too, which an administrator
//     writes and the person can end: every resource here acts for a person. Their subject is the client.
//   - An assertion of a trusted issuer (ID-JAG) never widens a connection that lives, and never brings one back that was
//     ended by hand: what the person decided last holds. An administrator can give it again.
//   - A claim of such an assertion that is not known here is refused, since it could be a limit; claims about the person
//     and their sign-in are known, and the issuer's entry can name more.
//   - Introspection (RFC 7662 §4) shows a client its own tokens only. The resource servers are parts of this program and
//     read the connection themselves; a caller that owns an audience does not exist.
//   - Assertions (RFC 9126 §2) with the URL of the pushed request endpoint as audience are refused: rfc7523bis leaves the
//     issuer alone, and the token endpoint is accepted only because most clients still name it.
//   - The userinfo endpoint takes any access token of this server that carries openid, whatever its audience (RFC 9068 §4):
//     OpenID Connect has the token of the request be good there, and knows no resource for it.
//   - A dropped signing key is honoured by other processes within ten seconds, not at once: asking the store at each
//     verification would cost every call a read.
package oauth
