package oauth

// What a client ID metadata document must be: draft-ietf-oauth-client-id-metadata-document §3 (URL), §4 (document),
// §5 (answer). MCP authorization 2026-07-28 asks for client_name and redirect_uris.

import (
	"encoding/json"
	"mime"
	"net/url"
	"slices"
	"strings"
)

// maxDocumentBytes bounds a document after decompression (§8.7).
const maxDocumentBytes = 5 * 1024

// maxClientID bounds a client_id, in bytes.
const maxClientID = 2048

// isDocumentID reports whether the client_id is meant to be the URL of a document. Ids issued here never are.
func isDocumentID(id string) bool { return strings.HasPrefix(id, "https://") }

// documentURLFault names what is wrong with a client_id that is a URL, or returns "". The URL is compared and fetched as
// it stands, so every spelling that parsers disagree about is refused.
func documentURLFault(id string) string {
	if len(id) > maxClientID || strings.ContainsFunc(id, notURICharacter) {
		return "The client_id is too long or has a character that URLs do not have."
	}
	if strings.Contains(id, "#") {
		return "The client_id must not have a fragment."
	}
	u, err := url.Parse(id)
	if err != nil || u.Scheme != "https" || !isDocumentID(id) || u.Hostname() == "" || !validPort(u) {
		return "The client_id is not an https URL."
	}
	if u.User != nil {
		return "The client_id must not have user information."
	}
	if isAddressLiteral(u.Hostname()) {
		return "The client_id must name a host, not an address."
	}
	if u.Path == "" || u.Path == "/" {
		return "The client_id must have a path."
	}
	// u.Path is decoded, so %2e forms show as dots; a decoded slash or backslash could hide a segment.
	for segment := range strings.FieldsFuncSeq(u.Path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == "." || segment == ".." {
			return "The client_id must not have dot segments."
		}
	}
	return ""
}

// isAddressLiteral reports whether a URL parser would read the host as an IP address: in brackets, or with a last label
// that is a number (127.1 and 0x7f000001 are addresses to some).
func isAddressLiteral(host string) bool {
	if strings.Contains(host, ":") {
		return true
	}
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return !strings.ContainsFunc(hex, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
	}
	return last == "" || !strings.ContainsFunc(last, func(r rune) bool { return r < '0' || r > '9' })
}

// isJSONType reports whether the Content-Type is application/json or application/*+json.
func isJSONType(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && (t == "application/json" || strings.HasPrefix(t, "application/") && strings.HasSuffix(t, "+json"))
}

// parseDocument reads the client out of its document. Errors are *Error with invalid_client: the document belongs to the
// client, whose developer is the one to mend it.
func parseDocument(id string, body []byte, exceptions []string) (*Client, error) {
	m, err := decodeMetadata(body)
	if err != nil {
		return nil, documentError("The client metadata document must be one JSON object in UTF-8 without repeated names.").WithCause(err)
	}
	// §4: simple string comparison.
	var stated string
	if json.Unmarshal(m["client_id"], &stated) != nil || stated != id {
		return nil, documentError("The client_id in the client metadata document differs from its URL.")
	}
	c, err := m.client(exceptions)
	if err != nil {
		return nil, asDocumentError(err)
	}
	if c.Name == "" {
		return nil, documentError("The client metadata document has no client_name.")
	}
	if c.AuthMethods, err = documentMethods(m, c); err != nil {
		return nil, asDocumentError(err)
	}
	u, err := url.Parse(id)
	if err != nil {
		return nil, documentError("The client_id is not an https URL.")
	}
	c.ID, c.Kind, c.Host = id, ClientDocument, u.Host
	return c, nil
}

// documentMethods chooses the authentication methods and takes the keys they need. A document is public, so it cannot
// hold a shared secret (§4); an absent method means none. A list of methods outranks the single one (OpenID Connect RP
// Metadata Choices); a client that lists both of ours may use either, request by request.
func documentMethods(m clientMetadata, c *Client) ([]string, error) {
	for _, secret := range []string{"client_secret", "client_secret_expires_at"} {
		if _, found := m[secret]; found {
			return nil, documentError("The client metadata document must not have a client secret.")
		}
	}
	method, err := m.text("token_endpoint_auth_method")
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(method, "client_secret_") {
		return nil, documentError("The client metadata document must not use a shared secret for authentication.")
	}
	choices, err := m.list("token_endpoint_auth_methods_supported")
	if err != nil {
		return nil, err
	}
	if len(choices) == 0 && method != "" {
		choices = []string{method}
	}
	var methods []string
	if len(choices) == 0 || slices.Contains(choices, AuthNone) {
		methods = []string{AuthNone}
	}
	if slices.Contains(choices, AuthPrivateKeyJWT) {
		switch err := m.takeKeys(c); {
		case err == nil:
			methods = append(methods, AuthPrivateKeyJWT)
		case len(methods) == 0:
			return nil, err
		}
	}
	if len(methods) == 0 {
		return nil, documentError("The client metadata document names no authentication method that is supported here. Supported are none and private_key_jwt.")
	}
	return methods, nil
}

func documentError(description string) *Error {
	return InvalidClient(description).WithCheck("client_document")
}

// asDocumentError turns an error of the metadata rules into one about the document, keeping its words.
func asDocumentError(err error) error {
	if e, ok := err.(*Error); ok && e.Code != "invalid_client" {
		return documentError("In the client metadata document: " + e.Description).WithCause(err)
	}
	return err
}
