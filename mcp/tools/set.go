package tools

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/app/limit"
	"gatehouse/mcp"
)

// Deps are what the tools work with.
type Deps struct {
	Inventory *inventory.Service
	Limiter   *limit.Limiter
	// CursorKey are 32 bytes that seal cursors; all processes of an installation share them.
	CursorKey []byte
	Rand      io.Reader
	// ScopeDenied makes the refusal of a connection that lacks the named scopes; nil, or a nil error, makes it the tool
	// error token_scope.
	ScopeDenied func(ctx context.Context, scopes string) error
	// StepUp, when set, refuses a write through a connection whose person did not sign in as this server demands; scopes
	// are those that the call needs.
	StepUp func(ctx context.Context, p *home.Principal, scopes string) error
}

// Set is the home tool set at the MCP door, ready to be served. It is immutable and safe for concurrent use.
type Set struct {
	inventory   *inventory.Service
	limiter     *limit.Limiter
	cursors     *cursors
	scopeDenied func(ctx context.Context, scopes string) error
	stepUp      func(ctx context.Context, p *home.Principal, scopes string) error
	door        string

	rows      []*row
	tools     []*mcp.Tool
	contracts map[string]*Contract
	bit       map[string]int // position of a tool by name
}

// row is a contract with its handler.
type row struct {
	contract *Contract
	handler  Handler
}

// maxTools is what the bits of a view hold.
const maxTools = 64

// New makes the tool set.
func New(d Deps) (*Set, error) {
	if d.Inventory == nil || d.Limiter == nil || d.Rand == nil {
		return nil, errors.New("tools: inventory, limiter and randomness are required")
	}
	seal, err := newCursors(d.CursorKey, d.Rand)
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	s := &Set{
		inventory: d.Inventory, limiter: d.Limiter, cursors: seal, scopeDenied: d.ScopeDenied, stepUp: d.StepUp, door: DoorMCP,
		contracts: map[string]*Contract{}, bit: map[string]int{},
	}
	if err := s.register(Contracts(), handlers()); err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	return s, nil
}

// register pairs contracts and handlers. A contract without a handler is left out (KE-154); a handler without a contract
// is a mistake in the program.
func (s *Set) register(contracts []*Contract, handlers map[string]Handler) error {
	for _, c := range contracts {
		h, ok := handlers[c.Name]
		if !ok {
			continue
		}
		r := &row{contract: c, handler: h}
		tool, err := h.bind(s, r)
		if err != nil {
			return err
		}
		s.bit[c.Name] = len(s.rows)
		s.rows, s.tools, s.contracts[c.Name] = append(s.rows, r), append(s.tools, tool), c
	}
	for name := range handlers {
		if s.contracts[name] == nil {
			return fmt.Errorf("handler %q has no contract", name)
		}
	}
	if len(s.rows) > maxTools {
		return fmt.Errorf("%d tools, at most %d can be told apart in a view", len(s.rows), maxTools)
	}
	return nil
}

func (s *Set) row(name string) *row { return s.rows[s.bit[name]] }

// Tools are the tools that have a handler, in the order of the contracts.
func (s *Set) Tools() []*mcp.Tool { return s.tools }

// Options are what mcp.NewServer is to be given to serve the set.
func (s *Set) Options() []mcp.Option {
	return []mcp.Option{
		mcp.WithTools(s.tools...), mcp.WithResources(Resources()...), mcp.WithInstructions(Instructions),
		mcp.WithView(s.View), mcp.WithAuthorize(s.Authorize), mcp.WithLimit(s.Limit),
		mcp.WithResultCodec(s.EncodeResult), mcp.WithErrorCodec(s.EncodeError),
	}
}

// query is one call on its way to the inventory: who asks, through which tool, and where it may run.
type query struct {
	set *Set
	row *row
	p   *home.Principal
	at  inventory.At
}

// query narrows the principal to what exists at the door: a location without the door's module is none (KE-80).
func (s *Set) query(ctx context.Context, r *row, locationID *string) (*query, error) {
	p := home.PrincipalFrom(ctx)
	if p == nil {
		return nil, errNoPrincipal
	}
	seen := *p
	seen.Locations = nil
	for i := range p.Locations {
		if p.Locations[i].HasModule(s.door) {
			seen.Locations = append(seen.Locations, p.Locations[i])
		}
	}
	q := &query{set: s, row: r, p: &seen}
	q.at.Available = func(a *home.Access) bool { return r.offers(q.p, s.door, a) }
	if locationID != nil {
		q.at.LocationID = *locationID
	}
	return q, nil
}
