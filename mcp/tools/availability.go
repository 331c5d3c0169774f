package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatehouse/app/home"
	"gatehouse/app/limit"
	"gatehouse/mcp"
)

// errNoPrincipal is a fault in the wiring: the endpoint puts a principal into every request that reaches a tool.
var errNoPrincipal = errors.New("no principal in the context")

// offers reports whether a tool is available to a principal at a location through a door: the six conditions, all from
// what was read for this request (KE-80, KE-81, KE-83).
func (r *row) offers(p *home.Principal, door string, a *home.Access) bool {
	return r.offersAnywhere(p, door) && // 1, 5 and 6 do not depend on the location
		a.HasModule(door) && a.HasModule(r.contract.Module) && // 3; 2 is p.Locations itself
		home.Can(a, r.handler.Action) // 4
}

func (r *row) offersAnywhere(p *home.Principal, door string) bool {
	return slices.Contains(r.contract.Doors, door) && r.allowedBy(p) && !slices.Contains(p.HiddenTools, r.contract.Name) &&
		p.Tools.Allows(r.contract.Name, r.contract.write())
}

// allowedBy reports whether the principal's scopes cover the tool; write includes read.
func (r *row) allowedBy(p *home.Principal) bool {
	if r.contract.write() {
		return p.CanWrite()
	}
	return p.CanRead()
}

// toolsAt names the tools available at a location, sorted.
func (s *Set) toolsAt(p *home.Principal, door string, a *home.Access) []string {
	names := []string{}
	for _, r := range s.rows {
		if r.offers(p, door, a) {
			names = append(names, r.contract.Name)
		}
	}
	slices.Sort(names)
	return names
}

// offered are the positions of the tools that are available in at least one location, as bits.
func (s *Set) offered(p *home.Principal, door string) uint64 {
	var bits uint64
	for i, r := range s.rows {
		if !r.offersAnywhere(p, door) {
			continue
		}
		for j := range p.Locations {
			if r.offers(p, door, &p.Locations[j]) {
				bits |= 1 << i
				break
			}
		}
	}
	return bits
}

// View shows a caller the union of the tools over the caller's locations (KE-90). Callers who see the same tools share
// one encoded list.
func (s *Set) View(ctx context.Context) mcp.View {
	var bits uint64
	if p := home.PrincipalFrom(ctx); p != nil {
		bits = s.offered(p, s.door)
	}
	return mcp.View{Key: bits, Tool: func(t *mcp.Tool) bool { return bits>>s.bit[t.Name]&1 == 1 }}
}

// Required names the scopes a call of the tool needs, as a scope value; write tools name both, since a client that steps
// up asks for exactly what it is told.
func (s *Set) Required(tool string) string {
	if c := s.contracts[tool]; c != nil && c.write() {
		return home.ScopeRead + " " + home.ScopeWrite
	}
	return home.ScopeRead
}

// Authorize checks the scope of a call, before the arguments are looked at. Whether the tool is available somewhere is
// decided with the location.
func (s *Set) Authorize(ctx context.Context, c *mcp.Call) error {
	p := home.PrincipalFrom(ctx)
	if p == nil {
		return errNoPrincipal
	}
	name := c.Tool().Name
	if s.row(name).allowedBy(p) {
		if s.stepUp != nil && p.Actor == home.ActorConnection && s.contracts[name].write() {
			return s.stepUp(ctx, p, s.Required(name))
		}
		return nil
	}
	if p.Actor == home.ActorConnection && s.scopeDenied != nil {
		if err := s.scopeDenied(ctx, s.Required(name)); err != nil {
			return err
		}
	}
	return errTokenScope()
}

// Limit counts a call that passed scope and schema, in the bucket of its kind (KE-135 to KE-137).
func (s *Set) Limit(ctx context.Context, c *mcp.Call) error {
	p := home.PrincipalFrom(ctx)
	if p == nil {
		return errNoPrincipal
	}
	spec, what := limit.Reads, "reads"
	if s.contracts[c.Tool().Name].write() {
		spec, what = limit.Writes, "writes"
	}
	res, err := s.limiter.Take(ctx, spec, p.LimitKey())
	if err != nil {
		return fmt.Errorf("limit %s: %w", what, err)
	}
	if res.Allowed {
		return nil
	}
	n := res.ResetSeconds()
	unit := "seconds"
	if n == 1 {
		unit = "second"
	}
	return &Error{Code: "rate_limited", Hint: fmt.Sprintf("Too many %s with this key. Try again in %d %s.", what, n, unit)}
}
