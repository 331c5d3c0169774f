package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Server answers MCP over HTTP: it is the handler of the endpoint. It is
// immutable once built and safe for concurrent use.
type Server struct {
	info         Implementation
	instructions string
	caps         Capabilities
	tools        []*Tool
	resources    []*Resource

	view           func(ctx context.Context) View
	middleware     []Middleware
	authorize      func(ctx context.Context, c *Call) error
	limit          func(ctx context.Context, c *Call) error
	argumentsFirst bool
	resultCodec    ResultCodec
	errorCodec     ErrorCodec
	observe        func(ctx context.Context, o Observation)
	log            *slog.Logger
	now            func() time.Time

	toolDeadline time.Duration
	bodyLimit    int64
	maxDepth     int
	nameLimit    int
	listTTL      time.Duration

	toolIndex        map[string]*Tool
	resourceIndex    map[string]*Resource
	handle           MessageHandler // middleware around route
	serverInfoMember []byte         // "io.modelcontextprotocol/serverInfo":{…}
	fixed            fixedAnswers
	toolLists        listCache
	resourceLists    listCache
}

// NewServer builds a server. What is registered is frozen then: there is no
// way to add to it later. An error names what is wrong with which part.
func NewServer(info Implementation, opts ...Option) (*Server, error) {
	if info.Name == "" || info.Version == "" {
		return nil, errors.New("mcp server: name and version are required")
	}
	s := &Server{
		info: info, log: slog.New(slog.DiscardHandler), resultCodec: DefaultResultCodec,
		toolDeadline: DefaultToolDeadline, bodyLimit: DefaultBodyLimit,
		maxDepth: DefaultMaxDepth, nameLimit: DefaultToolNameLimit,
	}
	s.errorCodec = s.defaultErrorCodec
	for _, opt := range opts {
		if err := opt(s); err != nil {
			return nil, fmt.Errorf("mcp server: %w", err)
		}
	}
	if err := errors.Join(s.indexTools(), s.indexResources()); err != nil {
		return nil, fmt.Errorf("mcp server: %w", err)
	}
	if err := s.encodeAnswers(); err != nil {
		return nil, fmt.Errorf("mcp server: %w", err)
	}
	s.handle = s.route
	for i := len(s.middleware) - 1; i >= 0; i-- {
		s.handle = s.middleware[i](s.handle)
	}
	return s, nil
}

// Tools returns the registered tools in order.
func (s *Server) Tools() []*Tool { return append([]*Tool(nil), s.tools...) }

// Resources returns the registered resources in order.
func (s *Server) Resources() []*Resource { return append([]*Resource(nil), s.resources...) }

func (s *Server) indexTools() error {
	var errs []error
	s.toolIndex = make(map[string]*Tool, len(s.tools))
	for _, t := range s.tools {
		if err := t.check(s.nameLimit); err != nil {
			errs = append(errs, err)
			continue
		}
		if s.toolIndex[t.Name] != nil {
			errs = append(errs, fmt.Errorf("tool %q: registered twice", t.Name))
		}
		s.toolIndex[t.Name] = t
	}
	return errors.Join(errs...)
}

func (s *Server) indexResources() error {
	var errs []error
	s.resourceIndex = make(map[string]*Resource, len(s.resources))
	for _, r := range s.resources {
		if err := r.check(); err != nil {
			errs = append(errs, err)
			continue
		}
		if s.resourceIndex[r.URI] != nil {
			errs = append(errs, fmt.Errorf("resource %q: registered twice", r.URI))
		}
		s.resourceIndex[r.URI] = r
	}
	return errors.Join(errs...)
}

func (s *Server) deadlineOf(t *Tool) time.Duration {
	if t.Deadline > 0 {
		return t.Deadline
	}
	return s.toolDeadline
}
