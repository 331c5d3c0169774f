package oauth

// Rich authorization requests: RFC 9396 §2 (the parameter), §5 (errors), §6 and §7 (token requests and answers), §9 (what
// the resource server sees), §10 (metadata).
//
// This package knows no type of its own. The program registers types with what checks and compares them; here they are
// carried: from the request over the person's decision to the connection, and from there into tokens and answers. What a
// connection holds decides, as with scopes; a token that was narrowed says so and both hold.

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// maxDetails bounds authorization details as they come and as they are granted: an access token carries them.
const maxDetails = 3 << 10

// DetailType is one type of authorization details. Its functions get the objects of this type alone and must not keep or
// change what they are given.
type DetailType struct {
	// Name is the value of the member type.
	Name string
	// Check refuses objects that are not valid for the resource and gives the others in normal form: equal rights are equal
	// bytes. The text of its error is told to the client; it must not repeat what was sent.
	Check func(resource string, objects []json.RawMessage) ([]json.RawMessage, error)
	// Within reports whether asked allows nothing that granted does not. Both are in normal form; granted may be none.
	Within func(asked, granted []json.RawMessage) bool
	// Meet gives what both allow: no objects when that is nothing.
	Meet func(asked, granted []json.RawMessage) []json.RawMessage
}

func checkDetailTypes(types []DetailType) error {
	seen := map[string]bool{}
	for _, t := range types {
		if t.Name == "" || t.Check == nil || t.Within == nil || t.Meet == nil || seen[t.Name] {
			return errors.New("a type of authorization details is incomplete or appears twice")
		}
		seen[t.Name] = true
	}
	return nil
}

// detailTypes are the names for the metadata; none when no type is registered.
func (s *Server) detailTypes() []string {
	var names []string
	for _, t := range s.cfg.DetailTypes {
		names = append(names, t.Name)
	}
	return names
}

// readDetails reads and checks the parameter for a resource. An absent or empty value is nil.
func (s *Server) readDetails(value, resource string) (json.RawMessage, *Error) {
	switch {
	case value == "":
		return nil, nil
	case len(s.cfg.DetailTypes) == 0:
		return nil, InvalidAuthorizationDetails("Authorization details are not supported.").WithCheck("authorization_details")
	case len(value) > maxDetails:
		return nil, InvalidAuthorizationDetails("The authorization_details are too long.").WithCheck("authorization_details")
	}
	return s.checkDetails(json.RawMessage(value), resource)
}

// checkDetails brings details into normal form, or says what is wrong with them.
func (s *Server) checkDetails(raw json.RawMessage, resource string) (json.RawMessage, *Error) {
	refuse := func(text string, cause error) *Error {
		return InvalidAuthorizationDetails(text).WithCheck("authorization_details").WithCause(cause)
	}
	byType, count, err := splitDetails(raw)
	if err != nil {
		return nil, refuse("The authorization_details must be a JSON array of objects, each with a type.", err)
	}
	if count == 0 {
		return nil, refuse("The authorization_details are empty.", nil)
	}
	for name := range byType {
		if !slices.Contains(s.detailTypes(), name) {
			return nil, refuse("A type of authorization details is unknown.", nil)
		}
	}
	var all []json.RawMessage
	for _, t := range s.cfg.DetailTypes {
		objects := byType[t.Name]
		if len(objects) == 0 {
			continue
		}
		checked, err := t.Check(resource, objects)
		if err != nil {
			return nil, refuse(err.Error(), err)
		}
		all = append(all, checked...)
	}
	normal, err := joinDetails(all)
	if err != nil {
		return nil, ServerError(err)
	}
	if len(normal) > maxDetails {
		return nil, refuse("The authorization_details are too long.", nil)
	}
	return normal, nil
}

// splitDetails sorts the objects of an array by their type.
func splitDetails(raw json.RawMessage) (byType map[string][]json.RawMessage, count int, err error) {
	if len(raw) == 0 {
		return nil, 0, nil
	}
	var objects []json.RawMessage
	if err := json.Unmarshal(raw, &objects); err != nil {
		return nil, 0, err
	}
	byType = map[string][]json.RawMessage{}
	for _, object := range objects {
		var head struct {
			Type *string `json:"type"`
		}
		if err := json.Unmarshal(object, &head); err != nil {
			return nil, 0, err
		}
		if head.Type == nil || *head.Type == "" {
			return nil, 0, errors.New("an object without a type")
		}
		byType[*head.Type] = append(byType[*head.Type], object)
	}
	return byType, len(objects), nil
}

// joinDetails is nil for no objects.
func joinDetails(objects []json.RawMessage) (json.RawMessage, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	return json.Marshal(objects)
}

// narrowDetails settles the details of an access token: all that the connection holds, or what a token request asks for
// of it (§6). What the installation was granted once is never an error, only no longer given, as with scopes.
func (s *Server) narrowDetails(grant *tokenGrant, value string, granted json.RawMessage) *Error {
	current := grant.details
	asked, e := s.readDetails(value, grant.resource.URI)
	if e != nil || asked == nil || bytes.Equal(asked, current) || bytes.Equal(asked, granted) {
		return e
	}
	parts, _, err := splitDetails(asked)
	if err != nil {
		return ServerError(err)
	}
	now, _, err := splitDetails(current)
	if err != nil {
		return ServerError(err)
	}
	once, _, err := splitDetails(granted)
	if err != nil {
		return ServerError(err)
	}
	var all []json.RawMessage
	for _, t := range s.cfg.DetailTypes {
		if len(parts[t.Name]) == 0 {
			continue
		}
		if !t.Within(parts[t.Name], now[t.Name]) && !t.Within(parts[t.Name], once[t.Name]) {
			return InvalidAuthorizationDetails("The authorization_details exceed what was authorized.").WithCheck("authorization_details")
		}
		all = append(all, t.Meet(parts[t.Name], now[t.Name])...)
	}
	if grant.details, err = joinDetails(all); err != nil {
		return ServerError(err)
	}
	if len(all) == 0 {
		return InvalidAuthorizationDetails("None of these authorization_details is authorized any more.").WithCheck("authorization_details")
	}
	grant.detailsNarrowed = true
	return nil
}

// meetDetails gives what a narrowed token is good for at this moment.
func (s *Server) meetDetails(token, current json.RawMessage) (json.RawMessage, *Error) {
	parts, _, err := splitDetails(token)
	if err != nil {
		return nil, ServerError(err)
	}
	now, _, err := splitDetails(current)
	if err != nil {
		return nil, ServerError(err)
	}
	var all []json.RawMessage
	for _, t := range s.cfg.DetailTypes {
		if len(parts[t.Name]) > 0 {
			all = append(all, t.Meet(parts[t.Name], now[t.Name])...)
		}
	}
	if len(all) == 0 {
		return json.RawMessage("[]"), nil // nothing, which is not the same as no details
	}
	met, err := joinDetails(all)
	if err != nil {
		return nil, ServerError(err)
	}
	return met, nil
}

// grantedDetails are the details of a decision: those the program gives, or those that were asked for. An empty array
// grants none.
func (s *Server) grantedDetails(r *checkedRequest, d Decision) (json.RawMessage, *Error) {
	if d.Details == nil {
		return r.details, nil
	}
	if _, count, err := splitDetails(d.Details); err == nil && count == 0 {
		return nil, nil
	}
	return s.checkDetails(d.Details, r.resource.URI)
}
