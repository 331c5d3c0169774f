package mcp

import "encoding/base64"

// Content is one block of a tool result: [Text], [Image], [Audio],
// [EmbeddedResource] or [ResourceLink].
type Content interface {
	appendContent(dst []byte, rev Revision) ([]byte, error)
}

// ContentAnnotations tell a client whom a block is for and how much it matters.
type ContentAnnotations struct {
	Audience     []string `json:"audience,omitempty"` // "user", "assistant"
	Priority     *float64 `json:"priority,omitempty"` // 0 to 1
	LastModified string   `json:"lastModified,omitempty"`
}

// Text is a text block.
type Text struct {
	Text        string
	Annotations *ContentAnnotations
	Meta        map[string]any
}

// TextBytes is a plain text block whose text is at hand as bytes; it is
// escaped straight into the answer.
type TextBytes []byte

// Image is a picture.
type Image struct {
	Data        []byte
	MIMEType    string
	Annotations *ContentAnnotations
	Meta        map[string]any
}

// Audio is a sound.
type Audio struct {
	Data        []byte
	MIMEType    string
	Annotations *ContentAnnotations
	Meta        map[string]any
}

// EmbeddedResource is a resource carried in the result; its URI is required.
type EmbeddedResource struct {
	Resource    ResourceContents
	Annotations *ContentAnnotations
	Meta        map[string]any
}

// ResourceLink names a resource the client may read. Clients of 2025-03-26,
// which have no such block, get the URI as text.
type ResourceLink struct {
	URI         string
	Name        string
	Title       string
	Description string
	MIMEType    string
	Annotations *ContentAnnotations
	Meta        map[string]any
}

func (t Text) appendContent(dst []byte, _ Revision) ([]byte, error) {
	dst = append(dst, `{"type":"text","text":`...)
	dst = appendString(dst, t.Text)
	return closeContent(dst, t.Annotations, t.Meta)
}

func (t TextBytes) appendContent(dst []byte, _ Revision) ([]byte, error) {
	dst = append(dst, `{"type":"text","text":`...)
	return append(appendString(dst, t), '}'), nil
}

func (i Image) appendContent(dst []byte, _ Revision) ([]byte, error) {
	return appendBinary(dst, "image", i.Data, i.MIMEType, i.Annotations, i.Meta)
}

func (a Audio) appendContent(dst []byte, _ Revision) ([]byte, error) {
	return appendBinary(dst, "audio", a.Data, a.MIMEType, a.Annotations, a.Meta)
}

func appendBinary(dst []byte, kind string, data []byte, mime string, ann *ContentAnnotations, meta map[string]any) ([]byte, error) {
	dst = append(append(append(dst, `{"type":"`...), kind...), `","data":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	dst = appendString(append(dst, `","mimeType":`...), mime)
	return closeContent(dst, ann, meta)
}

func (e EmbeddedResource) appendContent(dst []byte, _ Revision) ([]byte, error) {
	dst = append(dst, `{"type":"resource","resource":`...)
	dst, err := e.Resource.append(dst, e.Resource.URI, e.Resource.MIMEType)
	if err != nil {
		return dst, err
	}
	return closeContent(dst, e.Annotations, e.Meta)
}

func (l ResourceLink) appendContent(dst []byte, rev Revision) ([]byte, error) {
	if !rev.structured() {
		return Text{Text: l.URI, Annotations: l.Annotations}.appendContent(dst, rev)
	}
	dst = appendString(append(dst, `{"type":"resource_link","uri":`...), l.URI)
	dst = appendString(append(dst, `,"name":`...), l.Name)
	dst = appendOptional(dst, "title", l.Title)
	dst = appendOptional(dst, "description", l.Description)
	dst = appendOptional(dst, "mimeType", l.MIMEType)
	return closeContent(dst, l.Annotations, l.Meta)
}

// append writes the contents with the resource's own URI and type where the
// piece names none.
func (c ResourceContents) append(dst []byte, uri, mime string) ([]byte, error) {
	if c.URI != "" {
		uri = c.URI
	}
	if c.MIMEType != "" {
		mime = c.MIMEType
	}
	dst = appendString(append(dst, `{"uri":`...), uri)
	dst = appendOptional(dst, "mimeType", mime)
	if c.Blob != nil {
		dst = append(dst, `,"blob":"`...)
		dst = append(base64.StdEncoding.AppendEncode(dst, c.Blob), '"')
	} else {
		dst = appendString(append(dst, `,"text":`...), c.Text)
	}
	return closeContent(dst, nil, c.Meta)
}

// closeContent adds what every block may carry and ends the object.
func closeContent(dst []byte, ann *ContentAnnotations, meta map[string]any) ([]byte, error) {
	if ann != nil {
		b, err := marshalPlain(ann)
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, `,"annotations":`...), b...)
	}
	if len(meta) > 0 {
		b, err := marshalPlain(meta)
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, `,"_meta":`...), b...)
	}
	return append(dst, '}'), nil
}
