package tools

import (
	_ "embed"

	"gatehouse/mcp"
)

// Instructions is the text a client hands to the model when it connects (KE-07).
//
//go:embed instructions.md
var Instructions string

//go:embed vocabulary.md
var vocabulary string

// VocabularyURI is where a model finds every word and value the tools use.
const VocabularyURI = "gatehouse://vocabulary"

// Resources are the resources of the home server.
func Resources() []*mcp.Resource {
	return []*mcp.Resource{mcp.TextResource(mcp.Resource{
		URI: VocabularyURI, Name: "vocabulary", Title: "Gatehouse vocabulary",
		Description: "What the words and values in the tools' arguments and answers mean.",
		MIMEType:    "text/markdown",
	}, vocabulary)}
}
