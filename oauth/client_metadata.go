package oauth

// Client metadata as clients send it: RFC 7591 §2, shared by registration (RFC 7591 §3.1) and metadata documents
// (draft-ietf-oauth-client-id-metadata-document §4). Left out: software statements (§2.3, ignored as the RFC says),
// language-tagged values (§2.2, ignored). What becomes of jwks and jwks_uri is in client_keys.go.

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what is kept of a client's metadata.
const (
	maxRedirectURIs = 50
	maxMetadataText = 255
	maxScopeValue   = 4096
	maxContacts     = 10
	// maxListValues bounds any list, since removing repeated values takes time that grows with the square.
	maxListValues = 500
)

// clientMetadata is the raw metadata object.
type clientMetadata map[string]json.RawMessage

// decodeMetadata reads one JSON object and nothing behind it. A name that appears twice is refused: two readers of such
// an object could see two different clients.
func decodeMetadata(body []byte) (clientMetadata, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("the body is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the body is not a JSON object")
	}
	m := clientMetadata{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, errors.New("the body is not valid JSON")
		}
		if _, twice := m[name]; twice {
			return nil, errors.New("a name appears twice in the JSON object")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errors.New("the body is not valid JSON")
		}
		m[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("the body is not valid JSON")
	}
	if len(bytes.TrimSpace(body[d.InputOffset():])) > 0 {
		return nil, errors.New("the body goes on behind the JSON object")
	}
	return m, nil
}

// has reports whether the member is there with a value; null counts as omitted.
func (m clientMetadata) has(name string) bool {
	value, ok := m[name]
	return ok && !bytes.Equal(value, []byte("null"))
}

func (m clientMetadata) text(name string) (string, error) {
	var s string
	if !m.has(name) {
		return "", nil
	}
	if err := json.Unmarshal(m[name], &s); err != nil {
		return "", wrongType(name, "a string")
	}
	return s, nil
}

func (m clientMetadata) list(name string) ([]string, error) {
	if !m.has(name) {
		return nil, nil
	}
	var values []*string
	if err := json.Unmarshal(m[name], &values); err != nil || slices.Contains(values, nil) {
		return nil, wrongType(name, "an array of strings")
	}
	if len(values) > maxListValues {
		return nil, wrongType(name, "a shorter list")
	}
	list := make([]string, 0, len(values))
	for _, v := range values {
		if !slices.Contains(list, *v) {
			list = append(list, *v)
		}
	}
	return list, nil
}

func wrongType(name, want string) *Error {
	return InvalidClientMetadata("The member " + name + " must be " + want + ".").WithCheck(name)
}

// client turns the metadata into a client, all but its identity, kind and authentication methods.
func (m clientMetadata) client(exceptions []string) (*Client, error) {
	if m.has("jwks") && m.has("jwks_uri") { // RFC 7591 §2
		return nil, InvalidClientMetadata("jwks and jwks_uri must not both be present.").WithCheck("jwks")
	}
	c := &Client{}
	for _, read := range []func(*Client) error{
		func(c *Client) error { return m.readRedirectURIs(c, exceptions) },
		m.readGrants, m.readTexts, m.readURIs, m.readKeys, m.readPushed, m.readBinding, m.readIDTokenAlgorithm,
	} {
		if err := read(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// readRedirectURIs keeps the acceptable redirect URIs (RFC 7591 §3.2.1 lets the server replace values): some clients
// send a list for all their forms at once and give up when one of them is refused.
func (m clientMetadata) readRedirectURIs(c *Client, exceptions []string) error {
	uris, err := m.list("redirect_uris")
	if err != nil {
		return InvalidRedirectURI("The member redirect_uris must be an array of strings.").WithCheck("redirect_uris")
	}
	if len(uris) == 0 || len(uris) > maxRedirectURIs {
		return InvalidRedirectURI("The member redirect_uris must have 1 to 50 URIs.").WithCheck("redirect_uris")
	}
	var first error
	for _, uri := range uris {
		if err := checkRedirectURI(uri, exceptions); err == nil {
			c.RedirectURIs = append(c.RedirectURIs, uri)
		} else if first == nil {
			first = err
		}
	}
	if len(c.RedirectURIs) == 0 {
		return first
	}
	return nil
}

// readGrants keeps the grants and response types offered here, which must agree (RFC 7591 §2.1). Others are dropped:
// clients list what they could do elsewhere (a jwt-bearer URN, device_code).
func (m clientMetadata) readGrants(c *Client) error {
	grants, err := m.list("grant_types")
	if err != nil {
		return err
	}
	responses, err := m.list("response_types")
	if err != nil {
		return err
	}
	c.GrantTypes = []string{GrantAuthorizationCode}
	if len(grants) > 0 {
		c.GrantTypes = keep(grants, GrantAuthorizationCode, GrantRefreshToken)
		if !slices.Contains(c.GrantTypes, GrantAuthorizationCode) {
			return InvalidClientMetadata("grant_types must contain authorization_code.").WithCheck("grant_types")
		}
	}
	c.ResponseTypes = []string{"code"}
	if len(responses) > 0 && !slices.Contains(responses, "code") {
		return InvalidClientMetadata("response_types must contain code, which goes with authorization_code.").WithCheck("response_types")
	}
	return nil
}

func (m clientMetadata) readTexts(c *Client) error {
	for name, target := range map[string]*string{
		"client_name": &c.Name, "scope": &c.Scope, "application_type": &c.ApplicationType,
		"software_id": &c.SoftwareID, "software_version": &c.SoftwareVersion,
	} {
		value, err := m.text(name)
		if err != nil {
			return err
		}
		*target = value
	}
	c.Name = cleanName(c.Name)
	c.SoftwareID = cleanText(c.SoftwareID, maxMetadataText)
	c.SoftwareVersion = cleanText(c.SoftwareVersion, maxMetadataText)
	scopes, err := parseScope(c.Scope)
	if err != nil {
		return InvalidClientMetadata("The member scope must be a space-separated list of scopes.").WithCheck("scope")
	}
	c.Scope = formatScope(scopes)
	if c.ApplicationType != "native" && c.ApplicationType != "web" {
		c.ApplicationType = applicationType(c.RedirectURIs)
	}
	contacts, err := m.list("contacts")
	if err != nil {
		return err
	}
	for _, contact := range contacts[:min(len(contacts), maxContacts)] {
		if contact = cleanText(contact, maxMetadataText); contact != "" {
			c.Contacts = append(c.Contacts, contact)
		}
	}
	return nil
}

// applicationType judges a client that does not say by where its answers go. The default of OpenID Connect
// Registration §2, web, would shut out the command line clients that leave the member out.
func applicationType(redirects []string) string {
	if slices.ContainsFunc(redirects, func(uri string) bool { return !strings.HasPrefix(uri, "https://") }) {
		return "native"
	}
	return "web"
}

// readURIs keeps https URIs and forgets others: they are shown to people at most, so a bad one is no reason to turn the
// client away. None of them is ever fetched here.
func (m clientMetadata) readURIs(c *Client) error {
	for name, target := range map[string]*string{
		"client_uri": &c.ClientURI, "logo_uri": &c.LogoURI, "tos_uri": &c.TOSURI, "policy_uri": &c.PolicyURI,
	} {
		value, err := m.text(name)
		if err != nil {
			return err
		}
		if isInformationURI(value) {
			*target = value
		}
	}
	return nil
}

func isInformationURI(value string) bool {
	if len(value) > maxRedirectURI || strings.ContainsFunc(value, notURICharacter) {
		return false
	}
	u, err := url.Parse(value)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil
}

// readKeys checks keys also of clients that do not use them: a private or symmetric key in public metadata is a leak
// that the client's developer should hear of.
func (m clientMetadata) readKeys(*Client) error {
	if _, err := m.text("jwks_uri"); err != nil {
		return err
	}
	if !m.has("jwks") {
		return nil
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(m["jwks"], &set); err != nil || set.Keys == nil {
		return wrongType("jwks", "a JWK Set")
	}
	for _, key := range set.Keys {
		if holdsSecret(key) {
			return InvalidClientMetadata("jwks holds a private or symmetric key. Publish public keys only.").WithCheck("jwks")
		}
	}
	return nil
}

// readBinding reads whether the client always uses DPoP (RFC 9449 §5.2).
func (m clientMetadata) readBinding(c *Client) error {
	const name = "dpop_bound_access_tokens"
	if m.has(name) && json.Unmarshal(m[name], &c.DPoPBound) != nil {
		return wrongType(name, "true or false")
	}
	return nil
}

// keep returns the values that are also in allowed, in their order.
func keep(values []string, allowed ...string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !slices.Contains(allowed, v) })
}
