package harness

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Want fails the test unless the reply has one of the codes, and returns the
// reply.
func (r *Reply) Want(codes ...int) *Reply {
	r.t.Helper()
	for _, c := range codes {
		if r.Code == c {
			return r
		}
	}
	r.t.Fatalf("%s: code %d, want %v\n%s", r.what, r.Code, codes, r.text())
	return r
}

// WantStatus fails the test unless the reply is a Status with this code and
// reason whose message contains all of the parts.
func (r *Reply) WantStatus(code int, reason metav1.StatusReason, parts ...string) *Reply {
	r.t.Helper()
	r.Want(code)
	var s metav1.Status
	if err := json.Unmarshal(r.Body, &s); err != nil || s.Kind != "Status" || s.APIVersion != "v1" {
		r.t.Fatalf("%s: the reply is no Status (%v)\n%s", r.what, err, r.text())
	}
	if s.Status != metav1.StatusFailure || s.Reason != reason || int(s.Code) != code {
		r.t.Fatalf("%s: status %q reason %q code %d, want reason %q\n%s", r.what, s.Status, s.Reason, s.Code, reason, r.text())
	}
	for _, p := range parts {
		if !strings.Contains(s.Message, p) {
			r.t.Fatalf("%s: message %q lacks %q", r.what, s.Message, p)
		}
	}
	return r
}

// Object is the body as JSON; it fails the test when it is none.
func (r *Reply) Object() Object {
	r.t.Helper()
	var o Object
	if err := json.Unmarshal(r.Body, &o); err != nil {
		r.t.Fatalf("%s: %v\n%s", r.what, err, r.text())
	}
	return o
}

// Str is [Object.Str] of the body.
func (r *Reply) Str(path string) string {
	r.t.Helper()
	return r.Object().Str(path)
}

// Equal fails the test unless the field at path prints as want.
func (r *Reply) Equal(path, want string) *Reply {
	r.t.Helper()
	if got := r.Str(path); got != want {
		r.t.Fatalf("%s: %s is %q, want %q\n%s", r.what, path, got, want, r.text())
	}
	return r
}

// Contains tells whether the body contains text.
func (r *Reply) Contains(text string) bool { return strings.Contains(string(r.Body), text) }

func (r *Reply) text() string {
	const most = 4 << 10
	return string(r.Body[:min(len(r.Body), most)])
}

// Object is a JSON object.
type Object map[string]any

// At returns the value at a dotted path, or nil. A number selects an element
// of a list: "items.0.metadata.name". A field name that has dots of its own
// comes last: "metadata.annotations.k8s.io/initial-events-end".
func (o Object) At(path string) any { return at(map[string]any(o), path) }

func at(v any, path string) any {
	if path == "" {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		if x, ok := v[path]; ok {
			return x
		}
		first, rest, _ := strings.Cut(path, ".")
		return at(v[first], rest)
	case []any:
		first, rest, _ := strings.Cut(path, ".")
		if i, err := strconv.Atoi(first); err == nil && i >= 0 && i < len(v) {
			return at(v[i], rest)
		}
	}
	return nil
}

// Str prints the value at a path: strings as they are, numbers and booleans in
// JSON's form, nothing as "", everything else as JSON.
func (o Object) Str(path string) string {
	switch v := o.At(path).(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(err)
		}
		return string(b)
	}
}

// Items are the elements of a list's items.
func (o Object) Items() []Object {
	items, _ := o["items"].([]any)
	all := make([]Object, 0, len(items))
	for _, i := range items {
		m, _ := i.(map[string]any)
		all = append(all, m)
	}
	return all
}

// Names are the names of a list's items, in order, joined by spaces.
func (o Object) Names() string {
	var names []string
	for _, i := range o.Items() {
		names = append(names, i.Str("metadata.name"))
	}
	return strings.Join(names, " ")
}

// RV is metadata.resourceVersion.
func (o Object) RV() string { return o.Str("metadata.resourceVersion") }

// Set puts a value at a dotted path of objects, making the objects on the way.
func (o Object) Set(path string, value any) Object {
	m := map[string]any(o)
	for {
		first, rest, more := strings.Cut(path, ".")
		if !more {
			m[first] = value
			return o
		}
		next, ok := m[first].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[first] = next
		}
		m, path = next, rest
	}
}
