package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Reply is a server's answer without what differs from run to run.
type Reply struct {
	Code     int      `json:"code"`
	Warnings []string `json:"warnings,omitempty"`
	// Body is the object, or the Status of a refusal.
	Body map[string]any `json:"body,omitempty"`
	// raw is what came, where that is no JSON.
	raw []byte
}

// newReply takes from an answer what no two servers, and no two moments, share:
// uids, revisions, times, who owns which field, and the order of causes, which
// is that of Go's maps.
func newReply(step Step, code int, warnings []string, body []byte) (Reply, error) {
	r := Reply{Code: code, Warnings: warnings}
	slices.Sort(r.Warnings)
	if step.Brief && code < 300 {
		return r, nil
	}
	text, inProtobuf, err := asJSON(step, body)
	if err != nil {
		return r, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if step.Events && code < 300 {
		r.Body, err = events(d)
		if inProtobuf && err == nil {
			r.Body["protobuf"] = true
		}
		return r, err
	}
	if err := d.Decode(&r.Body); err != nil {
		r.Body, r.raw = map[string]any{"text": lasting(string(body))}, body
		return r, nil
	}
	if r.Body["kind"] == "Status" {
		r.Body = refusal(r.Body)
	} else {
		forget(r.Body)
	}
	if inProtobuf {
		r.Body["protobuf"] = true
	}
	return r, nil
}

// asJSON is the body of a reply in JSON, where it is in protobuf, and whether it is.
func asJSON(step Step, body []byte) (text []byte, inProtobuf bool, err error) {
	switch {
	case bytes.HasPrefix(body, envelope):
		text, err = fromProtobuf(body)
	case step.Events && len(body) > 0 && body[0] == 0: // the length of a frame
		text, err = framesOf(body)
	default:
		return body, false, nil
	}
	return text, true, err
}

// events are those of a watch, sorted, as no order is promised of what there was
// before it.
func events(d *json.Decoder) (map[string]any, error) {
	type told struct {
		event any
		text  string
	}
	var all []told
	for d.More() {
		var event map[string]any
		if err := d.Decode(&event); err != nil {
			return nil, err
		}
		forget(event)
		text, err := json.Marshal(event)
		if err != nil {
			return nil, err
		}
		all = append(all, told{event, string(text)})
	}
	slices.SortFunc(all, func(a, b told) int { return strings.Compare(a.text, b.text) })
	list := make([]any, 0, len(all))
	for _, one := range all {
		list = append(list, one.event)
	}
	return map[string]any{"events": list}, nil
}

// age is that of an object in a table.
var age = regexp.MustCompile(`^[0-9]+[smhdy]([0-9]+[smhd])?$`)

// forget removes what differs from run to run from objects, at any depth.
func forget(v any) {
	switch v := v.(type) {
	case map[string]any:
		if meta, ok := v["metadata"].(map[string]any); ok {
			if meta["continue"] == "" {
				delete(meta, "continue") // of a list of custom resources; to any client it means as much as none
			} else if meta["continue"] != nil {
				meta["continue"] = "…"
			}
			for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields"} {
				delete(meta, field)
			}
		}
		if cells, ok := v["cells"].([]any); ok {
			for i, c := range cells {
				if text, ok := c.(string); ok {
					cells[i] = age.ReplaceAllString(text, "…")
				}
			}
		}
		for _, field := range v {
			forget(field)
		}
	case []any:
		for _, item := range v {
			forget(item)
		}
	}
}

// passing is what messages quote that differs from run to run: objects with
// their metadata, the numbers in CEL's names of types, uids and times.
var passing = regexp.MustCompile(`"\{\\".*\}": |selfType[0-9]+|resourceVersion: "[0-9]+"|(uid: |object meta: |UID in record \()[0-9a-f-]{36}|(ResourceVersion in record \()[0-9]+|(\s(?:creationTimestamp|time): ")[0-9TZ:-]+`)

// lasting is a message without it.
func lasting(message string) string { return passing.ReplaceAllString(message, "$1$2$3…") }

// contributed is said of the rules that are blamed for the costs of a whole
// definition. Which they are depends on the order of a map.
const contributed = "contributed to estimated rule cost total"

// refusal is what counts of a Status. Its message is dropped where it says no
// more than the causes do: then it is theirs, in the order of a map.
func refusal(status map[string]any) map[string]any {
	out := map[string]any{}
	message, _ := status["message"].(string)
	out["message"] = lasting(message)
	if reason, ok := status["reason"]; ok {
		out["reason"] = reason
	}
	details, _ := status["details"].(map[string]any)
	list, _ := details["causes"].([]any)
	if len(list) == 0 {
		return out
	}
	var causes []string
	rest := message
	for _, c := range list {
		cause, _ := c.(map[string]any)
		text := fmt.Sprint(cause["field"], ": ", cause["message"])
		rest = strings.Replace(rest, text, "", 1)
		if strings.Contains(text, contributed) {
			continue
		}
		causes = append(causes, fmt.Sprint(cause["reason"], " ", lasting(text)))
	}
	slices.Sort(causes)
	out["causes"] = causes
	head, rest, _ := strings.Cut(rest, " is invalid: ")
	if strings.Trim(rest, "[], ") == "" {
		out["message"] = head
	}
	return out
}

// Text is the reply in one line, with its keys sorted.
func (r Reply) Text() (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return strings.TrimSpace(b.String()), err
}

// Recording is what a server answered: by the stories' names, the texts of the
// replies.
type Recording map[string][]json.RawMessage

// Record adds the replies to one story.
func (r Recording) Record(story string, replies []Reply) error {
	if _, twice := r[story]; twice {
		return fmt.Errorf("two stories are named %q", story)
	}
	r[story] = []json.RawMessage{}
	for _, reply := range replies {
		text, err := reply.Text()
		if err != nil {
			return err
		}
		r[story] = append(r[story], json.RawMessage(text))
	}
	return nil
}

// Save writes a recording to a file, with a line for each reply.
func (r Recording) Save(path string) error {
	var b bytes.Buffer
	for i, name := range slices.Sorted(maps.Keys(r)) {
		b.WriteString(map[bool]string{true: "{\n", false: ",\n"}[i == 0])
		fmt.Fprintf(&b, "%q: [", name)
		for j, reply := range r[name] {
			b.WriteString(map[bool]string{true: "\n ", false: ",\n "}[j == 0])
			b.Write(reply)
		}
		b.WriteString("\n]")
	}
	b.WriteString("\n}\n")
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// Load reads a recording from a file.
func Load(path string) (Recording, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := Recording{}
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Structured is the reply with an object in place of the YAML that holds it.
func (r Reply) Structured() Reply {
	var tree map[string]any
	if !bytes.HasPrefix(r.raw, []byte("apiVersion: ")) || yaml.Unmarshal(r.raw, &tree) != nil {
		return r
	}
	forget(tree)
	r.Body = map[string]any{"yaml": tree}
	return r
}
