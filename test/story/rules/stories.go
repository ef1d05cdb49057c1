// Package rules owns stories of definitions with validation rules, and of the
// other things that a definition says of its objects. kube-apiserver's answers
// to them are in test/recorded; test/cmd/record writes them.
//
// It must not know what a server makes of a rule.
package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "rules"

// Stories are all stories.
func Stories() []story.Story {
	var all []story.Story
	for _, group := range []map[string]func(*tale){language, libraries, types, transitions, costs, refused, definitions, objects} {
		for _, name := range slices.Sorted(maps.Keys(group)) {
			t := &tale{story.Story{Name: name, Unordered: true}}
			group[name](t)
			all = append(all, t.Story)
		}
	}
	return all
}

// tale is a story that is being written.
type tale struct{ story.Story }

// define makes the story's definition of one schema of specs, root is what
// follows it in the schema of the whole object (`,"x-kubernetes...":...`).
func (t *tale) define(spec, root string) { t.Definition = t.definition(spec, root) }

func (t *tale) definition(spec, root string) string {
	return t.Define(story.Version(`{"type":"object","properties":{"spec":` + spec + `}` + root + `}`))
}

func (t *tale) add(s story.Step) { t.Steps = append(t.Steps, s) }

// body is an object of the story at v1: rest is what follows its metadata.
func (t *tale) body(name, rest string) string {
	return fmt.Sprintf(`{"apiVersion":"%s/v1","kind":"Thing","metadata":{"name":"%s"},%s}`, t.Group(), name, rest)
}

// try creates objects without keeping them.
func (t *tale) try(rests ...string) {
	for _, rest := range rests {
		t.add(story.Step{Method: "POST", Path: t.Things("v1") + "?dryRun=All", Type: story.JSON, Body: t.body("x", rest)})
	}
}

// trySpecs is try for specs.
func (t *tale) trySpecs(specs ...string) {
	for _, s := range specs {
		t.try(`"spec":` + s)
	}
}

func (t *tale) create(name, rest string) {
	t.add(story.Step{Method: "POST", Path: t.Things("v1"), Type: story.JSON, Body: t.body(name, rest)})
}

func (t *tale) get(name string) {
	t.add(story.Step{Method: "GET", Path: t.Things("v1") + "/" + name})
}

// merge changes an object, and keeps it when that is allowed.
func (t *tale) merge(name string, patches ...string) {
	for _, p := range patches {
		t.add(story.Step{Method: "PATCH", Path: t.Things("v1") + "/" + name, Type: story.MergePatch, Body: p})
	}
}

// redefine replaces the versions of the definition, and waits until a request
// (tried, not kept) with this rest is answered with the text.
func (t *tale) redefine(versions, rest, until string) {
	t.patchDefinition(`{"spec":{"versions":` + versions + `}}`)
	t.add(story.Step{Method: "POST", Path: t.Things("v1") + "?dryRun=All", Type: story.JSON, Body: t.body("x", rest), Until: until})
}

func (t *tale) patchDefinition(patch string) {
	t.add(story.Step{Method: "PATCH", Path: story.Definitions + "/things." + t.Group(), Type: story.MergePatch, Body: patch, Brief: true})
}

// definitions tries definitions without keeping them.
func (t *tale) defineTry(definitions ...string) {
	for _, d := range definitions {
		t.add(story.Step{Method: "POST", Path: story.Definitions + "?dryRun=All", Type: story.JSON, Body: d, Brief: true})
	}
}

// ruled tries definitions of a schema of specs, with one rule each.
func (t *tale) ruled(properties string, rules ...string) {
	for _, r := range rules {
		t.defineTry(t.definition(`{"type":"object","properties":{`+properties+`},"x-kubernetes-validations":[`+rule(r)+`]}`, ""))
	}
}

// rule is the JSON of a rule, which may be JSON already (`{"...`). With "=" before it the
// rule is false, and the expression what its message says.
func rule(expression string) string {
	if strings.HasPrefix(expression, `{"`) {
		return expression
	}
	fields := map[string]string{"rule": expression}
	if value, ok := strings.CutPrefix(expression, "="); ok {
		fields = map[string]string{"rule": "false", "message": value, "messageExpression": "string(" + value + ")"}
	}
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}

// rules is a list of rules for a schema.
func rules(expressions ...string) string {
	var all []string
	for _, e := range expressions {
		all = append(all, rule(e))
	}
	return `"x-kubernetes-validations":[` + strings.Join(all, ",") + `]`
}

// evaluate tells what expressions say of specs with the properties. Those with
// "#" before them are refused, each in a definition of its own.
func evaluate(properties string, specs []string, expressions ...string) func(*tale) {
	return func(t *tale) {
		var fine []string
		for _, e := range expressions {
			if bad, ok := strings.CutPrefix(e, "#"); ok {
				t.ruled(properties, bad)
			} else {
				fine = append(fine, e)
			}
		}
		t.define(`{"type":"object","properties":{`+properties+`},`+rules(fine...)+`}`, "")
		t.trySpecs(specs...)
	}
}
