package mcp

import (
	"context"
	"sync"
	"time"
)

// fixedAnswers are the same for everybody and encoded when the server is built.
type fixedAnswers struct {
	initialize map[Revision]Result
	discover   Result
	prompts    eraAnswer
	templates  eraAnswer
	completion eraAnswer

	toolDefs, resourceDefs [][]byte
}

// eraAnswer is one answer in the form of each era.
type eraAnswer struct{ legacy, modern Result }

func (a eraAnswer) forEra(m *Message) (Result, error) {
	if err := checkCursor(m); err != nil {
		return nil, err
	}
	if m.Revision.Modern() {
		return a.modern, nil
	}
	return a.legacy, nil
}

// listAnswer frames a shared list body for one era without copying it.
type listAnswer struct{ head, body, tail []byte }

// AppendJSON appends the three parts.
func (l *listAnswer) AppendJSON(dst []byte) []byte {
	return append(append(append(dst, l.head...), l.body...), l.tail...)
}

func (s *Server) hasResources() bool { return s.caps.Resources || len(s.resources) > 0 }

// encodeAnswers prepares everything that does not depend on the request.
func (s *Server) encodeAnswers() error {
	info, err := marshalPlain(s.info)
	if err != nil {
		return err
	}
	s.serverInfoMember = append([]byte(`"`+MetaServerInfo+`":`), info...)
	for _, t := range s.tools {
		def, err := t.appendDefinition(nil)
		if err != nil {
			return err
		}
		s.fixed.toolDefs = append(s.fixed.toolDefs, def)
	}
	for _, r := range s.resources {
		def, err := r.appendDefinition(nil)
		if err != nil {
			return err
		}
		s.fixed.resourceDefs = append(s.fixed.resourceDefs, def)
	}
	s.encodeHandshakes(info)
	s.fixed.prompts = s.listFrame("prompts", nil, false)
	s.fixed.templates = s.listFrame("resourceTemplates", nil, false)
	s.fixed.completion = eraAnswer{
		legacy: RawResult(`{"completion":{"values":[],"total":0,"hasMore":false}}`),
		modern: RawResult(`{"resultType":"complete","completion":{"values":[],"total":0,"hasMore":false},"_meta":{` + string(s.serverInfoMember) + `}}`),
	}
	s.toolLists = listCache{name: "tools", defs: s.fixed.toolDefs}
	s.resourceLists = listCache{name: "resources", defs: s.fixed.resourceDefs}
	return nil
}

// encodeHandshakes prepares initialize, one answer per revision that has it,
// and server/discover.
func (s *Server) encodeHandshakes(info []byte) {
	caps := s.appendCapabilities(nil)
	var instructions []byte
	instructions = appendOptional(instructions, "instructions", s.instructions)
	s.fixed.initialize = make(map[Revision]Result)
	for _, rev := range Revisions() {
		if rev.Modern() {
			continue
		}
		b := append([]byte(`{"protocolVersion":"`+string(rev)+`","capabilities":`), caps...)
		b = append(append(b, `,"serverInfo":`...), info...)
		s.fixed.initialize[rev] = RawResult(append(append(b, instructions...), '}'))
	}
	versions, _ := marshalPlain(Revisions()) // strings: cannot fail
	b := append([]byte(`{"supportedVersions":`), versions...)
	b = append(append(b, `,"capabilities":`...), caps...)
	b = s.appendCacheHints(append(b, instructions...), s.listTTL, s.view != nil)
	s.fixed.discover = RawResult(append(b, '}'))
}

// appendCapabilities names what is served. No listChanged and no subscribe:
// what is registered never changes.
func (s *Server) appendCapabilities(dst []byte) []byte {
	dst = append(dst, '{')
	for _, c := range []struct {
		name string
		on   bool
	}{
		{"completions", s.caps.Completions}, {"logging", s.caps.Logging}, {"prompts", s.caps.Prompts},
		{"resources", s.hasResources()}, {"tools", len(s.tools) > 0},
	} {
		if !c.on {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), c.name...), `":{}`...)
	}
	return append(dst, '}')
}

// appendCacheHints ends a cacheable modern result: ttlMs, cacheScope, _meta.
// A public answer may be reused across access tokens, so what depends on the
// caller is private.
func (s *Server) appendCacheHints(dst []byte, ttl time.Duration, private bool) []byte {
	dst = appendInt(append(dst, `,"ttlMs":`...), int(ttl.Milliseconds()))
	if private {
		dst = append(dst, `,"cacheScope":"private","resultType":"complete","_meta":{`...)
	} else {
		dst = append(dst, `,"cacheScope":"public","resultType":"complete","_meta":{`...)
	}
	return append(append(dst, s.serverInfoMember...), '}')
}

// listFrame frames an encoded list for both eras.
func (s *Server) listFrame(name string, body []byte, private bool) eraAnswer {
	head := []byte(`{"` + name + `":[`)
	tail := append(s.appendCacheHints([]byte{']'}, s.listTTL, private), '}')
	return eraAnswer{
		legacy: &listAnswer{head: head, body: body, tail: []byte(`]}`)},
		modern: &listAnswer{head: head, body: body, tail: tail},
	}
}

// Bounds of the list caches: distinct sets, and view keys that lead to them.
const (
	maxCachedSets = 64
	maxCachedKeys = 1024
)

// listCache keeps encoded lists by visible set, and the way from view keys to them.
type listCache struct {
	name string
	defs [][]byte

	mu    sync.RWMutex
	byKey map[any]*eraAnswer
	bySet map[string]*eraAnswer
}

// get returns the list of the entries visible says are visible.
func (c *listCache) get(s *Server, key any, visible func(i int) bool) *eraAnswer {
	if key != nil {
		c.mu.RLock()
		answer := c.byKey[key]
		c.mu.RUnlock()
		if answer != nil {
			return answer
		}
	}
	set := make([]byte, (len(c.defs)+7)/8)
	for i := range c.defs {
		if visible(i) {
			set[i/8] |= 1 << (i % 8)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := c.bySet[string(set)]
	if answer == nil {
		answer = c.encode(s, set)
		if c.bySet == nil || len(c.bySet) >= maxCachedSets {
			c.bySet = make(map[string]*eraAnswer)
		}
		c.bySet[string(set)] = answer
	}
	if key != nil {
		if c.byKey == nil || len(c.byKey) >= maxCachedKeys {
			c.byKey = make(map[any]*eraAnswer)
		}
		c.byKey[key] = answer
	}
	return answer
}

func (c *listCache) encode(s *Server, set []byte) *eraAnswer {
	var body []byte
	for i, def := range c.defs {
		if set[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		if len(body) > 0 {
			body = append(body, ',')
		}
		body = append(body, def...)
	}
	answer := s.listFrame(c.name, body, s.view != nil)
	return &answer
}

// everybody is the key of the one view there is without WithView.
type everybody struct{}

func (s *Server) currentView(ctx context.Context) View {
	if s.view == nil {
		return View{Key: everybody{}}
	}
	return s.view(ctx)
}

func (s *Server) listTools(ctx context.Context, m *Message) (Result, error) {
	view := s.currentView(ctx)
	return s.toolLists.get(s, view.Key, func(i int) bool {
		return view.Tool == nil || view.Tool(s.tools[i])
	}).forEra(m)
}

func (s *Server) listResources(ctx context.Context, m *Message) (Result, error) {
	view := s.currentView(ctx)
	return s.resourceLists.get(s, view.Key, func(i int) bool {
		return view.Resource == nil || view.Resource(s.resources[i])
	}).forEra(m)
}

func (s *Server) toolVisible(ctx context.Context, t *Tool) bool {
	view := s.currentView(ctx)
	return view.Tool == nil || view.Tool(t)
}

func (s *Server) resourceVisible(ctx context.Context, r *Resource) bool {
	view := s.currentView(ctx)
	return view.Resource == nil || view.Resource(r)
}
