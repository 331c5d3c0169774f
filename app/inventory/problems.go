package inventory

import (
	"slices"
	"strconv"
	"strings"

	"gatehouse/app/home"
)

// problems reads fields and collects what is wrong with them, so that one answer lists it all.
type problems struct{ list []FieldError }

func (c *problems) add(path, message string) { c.list = append(c.list, FieldError{path, message}) }

// err gives the answer, or nil when nothing is wrong.
func (c *problems) err() error {
	if len(c.list) == 0 {
		return nil
	}
	return validation(c.list)
}

func (c *problems) name(path, s string, max int) string {
	out, problem := cleanName(s, max)
	if problem != "" {
		c.add(path, problem)
	}
	return out
}

func (c *problems) notes(path, s string, max int) string {
	out, problem := cleanNotes(s, max)
	if problem != "" {
		c.add(path, problem)
	}
	return out
}

// names reads a list of at most most names and drops repeated ones.
func (c *problems) names(path string, list []string, most, max int) []string {
	if len(list) > most {
		c.add(path, "must hold at most "+strconv.Itoa(most)+" entries")
		return nil
	}
	var out, keys []string
	for i, s := range list {
		name := c.name(path+"["+strconv.Itoa(i)+"]", s, max)
		if key := NameKey(name); !slices.Contains(keys, key) {
			keys = append(keys, key)
			out = append(out, name)
		}
	}
	return out
}

func (c *problems) condition(path, s string) string {
	if !slices.Contains(conditions, s) {
		c.add(path, "must be one of "+strings.Join(conditions, ", "))
	}
	return s
}

func (c *problems) quantity(path string, n int) int {
	if n < 0 || n > maxQuantity {
		c.add(path, "must be 1 to "+strconv.Itoa(maxQuantity))
	}
	return n
}

func (c *problems) minimum(path string, n int) *int {
	if n < 0 || n > maxQuantity {
		c.add(path, "must be 0 to "+strconv.Itoa(maxQuantity))
	}
	return &n
}

func (c *problems) date(path, s string) string {
	if _, ok := parseDate(s); !ok {
		c.add(path, "must be a date such as 2026-11-30")
	}
	return s
}

// pastDate is date for days that must not lie ahead at the location.
func (c *problems) pastDate(path, s, today string) string {
	if _, ok := parseDate(s); ok && s > today {
		c.add(path, "must not be in the future")
		return s
	}
	return c.date(path, s)
}

func (c *problems) money(path string, in MoneyInput) *Money {
	m, ok := ParseMoney(in.Amount, in.Currency)
	if !ok {
		c.add(path, "must be an amount such as 12.50 and a currency of three capital letters")
	}
	return &m
}

// checkMoney is the gate for written money: the module must be on and the currency the location's.
func checkMoney(a *home.Access, amounts ...*Money) error {
	if !a.HasModule(home.ModuleMoney) {
		return moduleOff(home.ModuleMoney)
	}
	for _, m := range amounts {
		if m != nil && !slices.Contains(a.Currencies, m.Currency) {
			return currencyNotEnabled()
		}
	}
	return nil
}
