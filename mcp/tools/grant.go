package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/app/home"
	"gatehouse/app/toolgrant"
)

// Catalog is what people and clients can choose from: each tool that has a handler, with the arguments on its top level
// that take a single value.
func Catalog() toolgrant.Catalog {
	var out toolgrant.Catalog
	there := handlers()
	for _, c := range Contracts() {
		if _, ok := there[c.Name]; ok {
			out = append(out, toolgrant.Tool{Name: c.Name, Title: c.Title, Write: c.write(), Arguments: arguments(c.Schema)})
		}
	}
	return out
}

func arguments(s *jsonschema.Schema) []toolgrant.Argument {
	var out []toolgrant.Argument
	for _, name := range s.PropertyOrder {
		kind := map[string]string{"string": toolgrant.String, "integer": toolgrant.Number, "number": toolgrant.Number,
			"boolean": toolgrant.Boolean}[s.Properties[name].Type]
		if kind != "" && name != "cursor" { // a cursor is ours and holds for one list alone
			out = append(out, toolgrant.Argument{Name: name, Kind: kind})
		}
	}
	return slices.Clip(out)
}

// checkLimits holds the arguments that a tool gets against the limits of the connection.
func checkLimits(p *home.Principal, tool string, arguments json.RawMessage) error {
	if !p.Tools.Limited(tool) {
		return nil
	}
	argument, rule, refused := p.Tools.Refused(tool, arguments)
	if !refused {
		return nil
	}
	if rule.Maximum != nil {
		return &Error{Code: "argument_limit", Hint: fmt.Sprintf("Here this tool takes %s only up to %s, and it must be given.",
			argument, strconv.FormatFloat(*rule.Maximum, 'f', -1, 64))}
	}
	return &Error{Code: "argument_limit", Hint: fmt.Sprintf(
		"Here this tool takes only certain values of %s, and one must be given. The person sets them in Settings, Connections.", argument)}
}
