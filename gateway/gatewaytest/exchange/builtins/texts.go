package builtins

import (
	"regexp"
	"slices"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange"
)

// passing is what replies hold of a moment and a server: uids, times but for those
// that requests hold, and resource versions in texts.
var passing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|20(?:2[1-9]|[3-9][0-9])-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|(resourceVersion(?:\\+")?: ?(?:\\*")?)[0-9]+`)

// quoted is what messages quote of the sources of a server: where its table of Go
// types is, how some types are called, and what changed of the fields of one.
var quoted = regexp.MustCompile(`\\n@@ (?:[^"\\]|\\.)*| in scheme \\"[a-z/]+\.go:[0-9]+\\"|(?:\[\])?handlers\.jsonPatchOp|jsonpatch\.(?:Patch|Operation)`)

// asker is who sent the requests, in the objects that keep it: the administrators
// of the servers have other names.
var asker = regexp.MustCompile(`"uid":"admin",|wasmgate-(admin")`)

// Texts are replies as they are recorded and compared. The items of a list name
// their kind in a gateway's answer, and do not in kube-apiserver's, which counts as
// the same; so does a cause that is told twice, and how a column is described.
func Texts(replies []exchange.Reply) ([]string, error) {
	var texts []string
	for _, reply := range replies {
		reply = reply.Structured()
		anonymous(reply.Body)
		undescribed(reply.Body)
		streamed, _ := reply.Body["events"].([]any)
		for _, event := range streamed {
			event, _ := event.(map[string]any)
			object, _ := event["object"].(map[string]any)
			undescribed(object)
		}
		if inYAML, ok := reply.Body["yaml"].(map[string]any); ok {
			anonymous(inYAML)
		}
		if causes, ok := reply.Body["causes"].([]string); ok {
			reply.Body["causes"] = slices.Compact(causes) // which are sorted
		}
		text, err := reply.Text()
		if err != nil {
			return nil, err
		}
		text = passing.ReplaceAllString(text, "$1…")
		texts = append(texts, quoted.ReplaceAllString(asker.ReplaceAllString(text, "$1"), ""))
	}
	return texts, nil
}

// undescribed takes the descriptions from the columns of a table: they are those of
// the release that the Go types are of.
func undescribed(table map[string]any) {
	columns, _ := table["columnDefinitions"].([]any)
	for _, column := range columns {
		if column, ok := column.(map[string]any); ok {
			delete(column, "description")
		}
	}
}

// anonymous takes the kind from the items of a list.
func anonymous(list map[string]any) {
	items, _ := list["items"].([]any)
	for _, item := range items {
		if object, ok := item.(map[string]any); ok && object["kind"] != "PartialObjectMetadata" {
			delete(object, "apiVersion")
			delete(object, "kind")
		}
	}
}
