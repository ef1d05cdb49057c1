package builtins

import (
	"regexp"

	"github.com/wasmgate/wasmgate/test/story"
)

// passing is what replies hold of a moment and a server: uids, times but for those
// that requests hold, and resource versions in texts.
var passing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|20(?:2[1-9]|[3-9][0-9])-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|(resourceVersion(?:\\+")?: ?(?:\\*")?)[0-9]+`)

// quoted is what messages quote of the sources of a server: where its table of Go
// types is, how some types are called, and what changed of the fields of one.
var quoted = regexp.MustCompile(`\\n@@ (?:[^"\\]|\\.)*| in scheme \\"[a-z/]+\.go:[0-9]+\\"|(?:\[\])?handlers\.jsonPatchOp|jsonpatch\.(?:Patch|Operation)`)

// asker is who sent the requests, in the objects that keep it, and who wrote the
// status of a definition: the administrators and the parts of the servers have other names.
var asker = regexp.MustCompile(`"uid":"admin",|wasmgate-(admin")|"manager":"(?:definitions|kube-apiserver)",`)

// Texts are replies as they are recorded and compared. How a column is described
// counts for nothing.
func Texts(replies []story.Reply) ([]story.Texts, error) {
	var texts []story.Texts
	for _, reply := range replies {
		reply = reply.Structured()
		undescribed(reply.Body)
		streamed, _ := reply.Body["events"].([]any)
		for _, event := range streamed {
			event, _ := event.(map[string]any)
			object, _ := event["object"].(map[string]any)
			undescribed(object)
		}
		t, err := reply.Texts()
		if err != nil {
			return nil, err
		}
		texts = append(texts, story.Texts{Ordered: lasting(t.Ordered), Unordered: lasting(t.Unordered)})
	}
	return texts, nil
}

// lasting is a text without what differs from server to server.
func lasting(text string) string {
	return quoted.ReplaceAllString(asker.ReplaceAllString(passing.ReplaceAllString(text, "$1…"), "$1"), "")
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
