package tools

import (
	"sort"
	"strconv"
)

// AnswerLimit is the size every answer stays below, in bytes of the text block (KE-139).
const AnswerLimit = 8192

// fitting makes one answer small enough. It works in the order the model loses least: fewer entries of a list, then
// whole fields, the largest first; never a part of a text, because a text cut short reads as if it were all.
type fitting struct {
	data    *node
	asOf    string
	next    string
	trimmed []string

	write bool
	list  string                      // key of the list a read is paged by, "" for none
	after func(n int) (string, error) // cursor that continues after entry n; nil when the tool has no cursor
}

// fit returns the encoded answer. The error is outputTooLarge for a read that no step makes small enough.
func (f *fitting) fit() ([]byte, error) {
	if list := f.data.list(f.list); list != nil && !f.write && len(list.elems) > 1 {
		if err := f.shorten(list); err != nil {
			return nil, err
		}
	}
	if f.size() >= AnswerLimit {
		f.dropFields()
	}
	if f.size() >= AnswerLimit {
		if !f.write {
			return nil, errOutputTooLarge()
		}
		f.skeleton()
	}
	return f.append(nil), nil
}

// shorten keeps the first n entries, n the largest that fits together with a cursor that continues after them (KE-140).
// A list whose tool has no cursor is named in trimmed instead. Not even one fits: one is kept, and fields go next.
func (f *fitting) shorten(list *node) error {
	all := list.elems
	if f.after == nil {
		f.addTrimmed(f.list)
	}
	for n := len(all) - 1; n >= 1; n-- {
		list.elems = all[:n]
		f.next = ""
		if f.size() >= AnswerLimit && n > 1 {
			continue
		}
		if f.after != nil {
			next, err := f.after(n)
			if err != nil {
				return err
			}
			f.next = next
		}
		if f.size() < AnswerLimit {
			return nil
		}
	}
	return nil
}

// candidate is a field that may be dropped: one path, all entries of a list counted together.
type candidate struct {
	path  string
	last  bool // goes only when nothing else is left
	bytes int
	in    []*node // the objects that hold it
	key   string
}

// dropFields drops candidates, the one with the most bytes first, until the answer fits (KE-141).
func (f *fitting) dropFields() {
	for _, c := range candidates(f.data) {
		for _, holder := range c.in {
			holder.remove(c.key)
		}
		f.addTrimmed(c.path)
		if f.size() < AnswerLimit {
			return
		}
	}
}

// candidates lists what may be dropped in the order in which it goes: by bytes, ties in order of appearance, and path at
// the very end. Candidates never lie inside one another, so dropping one changes no other's bytes.
func candidates(data *node) []*candidate {
	c := collector{at: map[string]*candidate{}}
	c.walk(data, "")
	sort.SliceStable(c.found, func(i, j int) bool {
		a, b := c.found[i], c.found[j]
		if a.last != b.last {
			return b.last
		}
		return a.bytes > b.bytes
	})
	return c.found
}

type collector struct {
	found []*candidate
	at    map[string]*candidate
}

func (c *collector) walk(n *node, path string) {
	for _, e := range n.elems {
		c.walk(e, path+"[*]")
	}
	for _, m := range n.members {
		below := m.key
		if path != "" {
			below = path + "." + m.key
		}
		switch {
		case m.key == "placed": // protected whole: it tells the model where each thing went
		case !protected(m.key) && (m.key == "custom" || !m.val.holdsProtected()):
			c.add(n, m, below)
		default:
			c.walk(m.val, below)
		}
	}
}

func (c *collector) add(holder *node, m member, path string) {
	found := c.at[path]
	if found == nil {
		found = &candidate{path: path, key: m.key, last: m.key == "path"}
		c.at[path] = found
		c.found = append(c.found, found)
	}
	found.bytes += m.size()
	found.in = append(found.in, holder)
}

func (n *node) remove(key string) {
	for i := range n.members {
		if n.members[i].key == key {
			n.members = append(n.members[:i], n.members[i+1:]...)
			return
		}
	}
}

// skeleton keeps nothing but ids and the term of undo: the write is saved, so the model must learn what it wrote
// (KE-144, KE-145).
func (f *fitting) skeleton() {
	f.data.keepIDs()
	f.trimmed = []string{"*"}
}

func (n *node) keepIDs() {
	kept := n.members[:0]
	for _, m := range n.members {
		switch {
		case m.key == "id" || m.key == "undo_until" || isID(m.key):
		case m.val.kind == '{' || m.val.kind == '[':
			m.val.keepIDs()
			if len(m.val.members)+len(m.val.elems) == 0 {
				continue
			}
		default:
			continue
		}
		kept = append(kept, m)
	}
	n.members = kept
	elems := n.elems[:0]
	for _, e := range n.elems {
		if e.keepIDs(); len(e.members)+len(e.elems) > 0 {
			elems = append(elems, e)
		}
	}
	n.elems = elems
}

func (f *fitting) addTrimmed(path string) {
	for _, t := range f.trimmed {
		if t == path {
			return
		}
	}
	f.trimmed = append(f.trimmed, path)
}

// size is the number of bytes append writes.
func (f *fitting) size() int {
	return f.data.size() + len(appendTail(nil, f.asOf, f.next, f.trimmed)) + len(`{"data":`)
}

func (f *fitting) append(dst []byte) []byte {
	dst = f.data.append(append(dst, `{"data":`...))
	return appendTail(dst, f.asOf, f.next, f.trimmed)
}

// appendTail writes what follows the data in an envelope. Cursors are base64url and paths are keys, so quoting is enough.
func appendTail(dst []byte, asOf, next string, trimmed []string) []byte {
	dst = append(append(append(dst, `,"as_of":"`...), asOf...), '"')
	if next != "" {
		dst = append(append(append(dst, `,"next_cursor":"`...), next...), '"')
	}
	for i, path := range trimmed {
		if i == 0 {
			dst = append(dst, `,"trimmed":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = strconv.AppendQuote(dst, path)
	}
	if len(trimmed) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
