package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// Resource is something a client may read by URI.
type Resource struct {
	URI         string // absolute
	Name        string // required
	Title       string
	Description string // required by careful clients, so required here
	MIMEType    string
	Size        int64 // bytes, 0 for unknown
	Meta        map[string]any

	// Read returns the contents, at least one. An error that is an *[RPCError] or
	// *[HTTPRefusal] goes out as such; any other is an internal error, and only
	// the log sees its text.
	Read func(ctx context.Context, req *ResourceRequest) ([]ResourceContents, error)

	static bool
}

// ResourceRequest is what a reader gets.
type ResourceRequest struct {
	Resource *Resource
	URI      string
	Message  *Message
}

// ResourceContents is one piece of a resource: text, or bytes when Blob is not nil.
type ResourceContents struct {
	URI      string // empty means the resource's own
	MIMEType string // empty means the resource's own
	Text     string
	Blob     []byte
	Meta     map[string]any
}

// TextResource gives r a reader that always answers with text.
func TextResource(r Resource, text string) *Resource {
	r.Size, r.static = int64(len(text)), true
	contents := []ResourceContents{{Text: text}}
	r.Read = func(context.Context, *ResourceRequest) ([]ResourceContents, error) { return contents, nil }
	return &r
}

func (r *Resource) check() error {
	if r == nil {
		return errors.New("a nil resource")
	}
	u, err := url.Parse(r.URI)
	switch {
	case err != nil || !u.IsAbs():
		return fmt.Errorf("resource %q: URI is not absolute", r.URI)
	case r.Name == "":
		return fmt.Errorf("resource %q: name is missing", r.URI)
	case r.Description == "":
		return fmt.Errorf("resource %q: description is missing", r.URI)
	case r.Read == nil:
		return fmt.Errorf("resource %q: no reader", r.URI)
	}
	return nil
}

func (r *Resource) appendDefinition(dst []byte) ([]byte, error) {
	def := struct {
		URI         string         `json:"uri"`
		Name        string         `json:"name"`
		Title       string         `json:"title,omitempty"`
		Description string         `json:"description"`
		MIMEType    string         `json:"mimeType,omitempty"`
		Size        int64          `json:"size,omitempty"`
		Meta        map[string]any `json:"_meta,omitempty"`
	}{r.URI, r.Name, r.Title, r.Description, r.MIMEType, r.Size, r.Meta}
	b, err := marshalPlain(def)
	if err != nil {
		return dst, fmt.Errorf("resource %q: encode definition: %w", r.URI, err)
	}
	return append(dst, b...), nil
}
