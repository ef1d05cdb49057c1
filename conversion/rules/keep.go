package rules

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// keptIn is the domain of annotations that rules do not name.
const keptIn = "conversion.wasmgate.dev/"

// Name is the annotation that a field is kept in.
func (k *Keep) Name() string {
	if k.Annotation != "" {
		return k.Annotation
	}
	steps, err := parsePath(k.Field)
	if err != nil {
		return keptIn
	}
	return keptIn + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '.'
	}, strings.Join(steps, "."))
}

func (k *Keep) compile(c *compiler) *op {
	s, p := c.paths(false, "field", k.Field)
	if len(c.errs) > 0 {
		return nil
	}
	name := k.Name()
	annotation := c.annotation("annotation", name, s)
	return &op{scope: s,
		there: func(r *run, item []string) error {
			if raw := r.take(item, p[0]); raw != nil {
				return r.at(nil, annotation).SetString(string(raw))
			}
			return nil
		},
		back: func(r *run, item []string) error {
			raw := r.take(nil, annotation)
			if raw == nil {
				return nil
			}
			text, _ := rawjson.String(raw) // of anything else nothing, which is no JSON
			text = strings.Trim(text, " \t\r\n")
			end, err := rawjson.Skip([]byte(text), 0)
			if err != nil || end != len(text) {
				return fmt.Errorf("the annotation %s holds no JSON: remove it, or mend it", name)
			}
			return r.at(item, p[0]).SetRaw([]byte(text))
		},
	}
}

// annotations are those that the rules of one conversion keep something in so far; true
// where one is taken out only, so that a later rule may still put something in.
type annotations map[string]bool

// add notes what an operation keeps, and tells of an annotation that has something of another
// one already: whichever were second would lose it, or get what is the other's.
func (a annotations) add(c *compiler, operation string) *field.Error {
	if c.keptIn == "" {
		return nil
	}
	takes := operation == "restore" || operation == "mapToList"
	emptied, used := a[c.keptIn]
	a[c.keptIn] = takes
	if !used || emptied && !takes {
		return nil
	}
	err := field.Duplicate(c.at.Child(c.keptBy), c.keptIn)
	err.Detail = "another rule keeps something in it: name another annotation"
	return err
}
