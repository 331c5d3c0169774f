package connection

import (
	"encoding/json"
	"net/url"

	"gatehouse/oauth"
)

// NewClient is a client that an administrator enters.
type NewClient struct {
	Name         string
	RedirectURIs []string
	// Confidential clients get a secret.
	Confidential bool
	// JWKSURI or JWKS, of which one at most may be set, make a client that authenticates by its keys (private_key_jwt).
	JWKSURI string
	JWKS    json.RawMessage
	// RequirePushed refuses authorization requests that the client did not push.
	RequirePushed bool
	// DPoPBound says that the client always asks for tokens bound to its key.
	DPoPBound bool
	// ApplicationType is "web", "native" or empty: judged by the redirect URIs.
	ApplicationType string
	// What people and administrators are shown; all may be empty.
	ClientURI, TOSURI, PolicyURI, SoftwareID, SoftwareVersion, Scope string
	Contacts                                                         []string
	// Machine clients act by their own credentials, Asserted ones bring assertions of trusted issuers, Devices sign in by a
	// code that people enter. Machines have no redirect URIs; for the others these are optional.
	Machine, Asserted, Devices bool
}

// grants lists the grant types that differ from the usual ones.
func (n *NewClient) grants() []string {
	var out []string
	if len(n.RedirectURIs) > 0 {
		out = append(out, "authorization_code", "refresh_token")
	}
	if n.Machine {
		out = append(out, oauth.GrantClientCredentials)
	}
	if n.Asserted {
		out = append(out, oauth.GrantJWTBearer)
	}
	if n.Devices {
		out = append(out, oauth.GrantDeviceCode)
	}
	return out
}

// special reports whether the client gets tokens in another way than by a redirect.
func (n *NewClient) special() bool { return n.Machine || n.Asserted || n.Devices }

func (n *NewClient) metadata() map[string]any {
	m := map[string]any{"client_name": n.Name, "redirect_uris": n.RedirectURIs, "token_endpoint_auth_method": "none"}
	if n.Confidential {
		// An omitted method lets the client send its secret either way: hosted clients post it, libraries use Basic.
		delete(m, "token_endpoint_auth_method")
	}
	if n.special() {
		m["grant_types"] = n.grants()
		if len(n.RedirectURIs) == 0 {
			delete(m, "redirect_uris")
		}
	}
	if n.RequirePushed {
		m["require_pushed_authorization_requests"] = true
	}
	if n.DPoPBound {
		m["dpop_bound_access_tokens"] = true
	}
	for name, value := range map[string]string{
		"application_type": n.ApplicationType, "client_uri": n.ClientURI, "tos_uri": n.TOSURI, "policy_uri": n.PolicyURI,
		"software_id": n.SoftwareID, "software_version": n.SoftwareVersion, "scope": n.Scope,
	} {
		if value != "" {
			m[name] = value
		}
	}
	if len(n.Contacts) > 0 {
		m["contacts"] = n.Contacts
	}
	if n.JWKSURI != "" {
		m["token_endpoint_auth_method"], m["jwks_uri"] = "private_key_jwt", n.JWKSURI
	}
	if n.JWKS != nil {
		m["token_endpoint_auth_method"], m["jwks"] = "private_key_jwt", n.JWKS
	}
	return m
}

// check refuses what registration would quietly drop: whoever enters a client by hand should hear of it.
func (n *NewClient) check() error {
	switch {
	case n.Machine && len(n.RedirectURIs) > 0:
		return invalid("redirect_uris", "A client that acts by its own credentials has no redirect URI.")
	case (n.Machine || n.Asserted) && !n.Confidential && n.JWKSURI == "" && n.JWKS == nil:
		return invalid("jwks", "A client that gets tokens without a person at hand needs a secret or keys.")
	case n.Name == "" || len(n.RedirectURIs) == 0 && !n.special():
		return invalid("redirect_uris", "A client needs a name and at least one redirect URI.")
	}
	if n.Confidential && (n.JWKSURI != "" || n.JWKS != nil) || n.JWKSURI != "" && n.JWKS != nil {
		return invalid("jwks", "A client has either a secret, or keys at an address, or keys entered here.")
	}
	for _, uri := range []string{n.ClientURI, n.TOSURI, n.PolicyURI} {
		if u, err := url.Parse(uri); uri != "" && (err != nil || u.Scheme != "https" || u.Hostname() == "") {
			return invalid("client_uri", "The addresses of pages must begin with https://.")
		}
	}
	return nil
}
