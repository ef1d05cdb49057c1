package kubewarden

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/plugins"
)

// Call is what a policy asks of its host.
type Call struct {
	Binding, Namespace, Operation string
	Payload                       []byte
}

// MaxPayload is the largest payload of a call.
const MaxPayload = 64 << 10

// Question is what a call comes to: an object that is looked for, or a line to log.
type Question struct {
	// Object is what is looked for; its Name is empty where nothing is.
	Object plugins.Object
	// APIVersion is the version that the object is wanted at.
	APIVersion string
	// Line is logged.
	Line string
}

// the binding of Kubewarden, and what of it is offered.
const (
	binding    = "kubewarden"
	kubernetes = "kubernetes"
	tracing    = "tracing"
	getOne     = "get_resource"
	logLine    = "log"
)

// Question reads a call. The error is for the policy.
func (c Call) Question() (q Question, err error) {
	if c.Binding != binding {
		return q, c.refused("only the binding " + binding + " is")
	}
	switch c.Namespace + "/" + c.Operation {
	case kubernetes + "/" + getOne:
		return wanted(c.Payload)
	case tracing + "/" + logLine:
		return Question{Line: string(c.Payload)}, nil
	}
	if c.Namespace == kubernetes {
		return q, c.refused("of " + kubernetes + " only " + getOne + " is, of objects that spec.grants names")
	}
	return q, c.refused("a policy reaches no registries, networks or keys here")
}

func (c Call) refused(why string) error {
	return fmt.Errorf("the gateway does not offer %s/%s of %s to policies: %s",
		excerpt.Of(c.Namespace, 100), excerpt.Of(c.Operation, 100), excerpt.Of(c.Binding, 100), why)
}

func wanted(payload []byte) (q Question, err error) {
	var want struct {
		APIVersion string `json:"api_version"`
		Kind       string `json:"kind"`
		Name       string `json:"name"`
		Namespace  string `json:"namespace"`
	}
	if err := json.Unmarshal(payload, &want); err != nil {
		return q, fmt.Errorf("%s: its payload cannot be read: %w", getOne, err)
	}
	if want.APIVersion == "" || want.Kind == "" || want.Name == "" {
		return q, fmt.Errorf("%s: api_version, kind and name are needed", getOne)
	}
	group, _, grouped := strings.Cut(want.APIVersion, "/")
	if !grouped {
		group = ""
	}
	q.APIVersion = want.APIVersion
	q.Object = plugins.Object{Group: group, Resource: plural(want.Kind), Namespace: want.Namespace, Name: want.Name}
	if _, err := plugins.ParseObject(q.Object.String()); err != nil {
		return Question{}, err
	}
	return q, nil
}

// plural is the resource that a kind usually has: policies ask by kind, and grants are
// by resource. One that is called otherwise is not found in the grants.
func plural(kind string) string {
	one := strings.ToLower(kind)
	switch {
	case one == "endpoints":
		return one
	case strings.HasSuffix(one, "s"), strings.HasSuffix(one, "x"), strings.HasSuffix(one, "ch"), strings.HasSuffix(one, "sh"):
		return one + "es"
	case strings.HasSuffix(one, "y") && !strings.HasSuffix(one, "ay") && !strings.HasSuffix(one, "ey"):
		return strings.TrimSuffix(one, "y") + "ies"
	}
	return one + "s"
}

// Found checks that an object is at the version that was asked for.
func (q Question) Found(object []byte) error {
	var at struct {
		APIVersion string `json:"apiVersion"`
	}
	if err := json.Unmarshal(object, &at); err != nil {
		return fmt.Errorf("%s cannot be read: %w", q.Object, err)
	}
	if at.APIVersion != q.APIVersion {
		return fmt.Errorf("%s is stored at %s, and was asked for at %s: objects are shown as they are stored", q.Object, at.APIVersion, excerpt.Of(q.APIVersion, 100))
	}
	return nil
}
