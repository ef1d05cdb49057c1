package mistakes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/wasmgate/wasmgate/test/story"
)

// said is what is recorded of a reply.
type said struct {
	Code int  `json:"code"`
	Body *why `json:"body,omitempty"`
}

// why is what a refusal says: its reason, and the fields with what kind of mistake
// each is.
type why struct {
	Fields []string `json:"fields,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// Texts are replies as they are recorded and compared: whether the object is
// taken, and if not, by which code and for which reason, with the fields that are
// named and what kind of mistake each is. How that is worded is left out, and the
// order in which it is told.
func Texts(replies []story.Reply) ([]story.Texts, error) {
	var texts []story.Texts
	for _, reply := range replies {
		told := said{Code: reply.Code}
		if reason, ok := reply.Body["reason"].(string); ok {
			told.Body = &why{Reason: reason, Fields: fields(reply.Body)}
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(told); err != nil {
			return nil, err
		}
		line := string(bytes.TrimSpace(b.Bytes()))
		texts = append(texts, story.Texts{Ordered: line, Unordered: line})
	}
	return texts, nil
}

// fields are those that the causes of a Status name.
func fields(status map[string]any) (out []string) {
	details, _ := status["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	for _, c := range causes {
		cause, _ := c.(map[string]any)
		out = append(out, fmt.Sprint(cause["reason"], " ", cause["field"]))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Fields matches in a text what it says of fields. Several mistakes at once are
// told by each server in its own way, and where one mistake makes another, one of
// them may be left out.
var Fields = regexp.MustCompile(`"fields":(null|\[("([^"\\]|\\.)*",?)*\]),?`)
