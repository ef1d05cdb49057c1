// Package generated owns stories that are made from a seed: structural schemas
// of every kind and objects that are valid or slightly wrong, tried, stored,
// changed, and changed once more under a definition that allows less. The same
// seed makes the same stories. kube-apiserver's answers to some are in test/recorded;
// test/cmd/record writes them.
//
// It must not know which of its objects a server takes.
package generated

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings, and Recorded is how many
// stories it holds, from seed 1.
const (
	Table    = "generated"
	Recorded = 24
)

// Of each story so many objects are tried, and so many are stored and changed.
const (
	tried  = 9
	stored = 3
)

// Story makes the story of a seed.
func Story(seed uint64) story.Story {
	g := generator{rand.New(rand.NewPCG(seed, 9))}
	s := story.Story{Name: fmt.Sprintf("generated %d", seed), Doubtful: true, Unordered: true}
	spec := g.object(3)
	g.decorate(spec)
	s.Definition = s.Define(versions(spec, 1))
	for i := range tried {
		wrong := []int{0, 3, 8}[i%3]
		s.Steps = append(s.Steps, story.Step{
			Method: "POST", Path: s.Things("v1") + "?dryRun=All" + pick(g, "", "", "&fieldValidation=Strict", "&fieldValidation=Ignore"),
			Type: story.JSON, Body: g.thing(s, "x", spec, wrong),
		})
	}
	for i := range stored {
		s.Steps = append(s.Steps, story.Step{Method: "POST", Path: s.Things("v1"), Type: story.JSON, Body: g.thing(s, fmt.Sprint("s", i), spec, i)})
		s.Steps = append(s.Steps, g.changes(s, i, spec)...)
	}
	narrow := g.tightened(spec)
	s.Steps = append(s.Steps, redefined(s, versions(narrow, 2)))
	for i := range stored {
		s.Steps = append(s.Steps, g.changes(s, i, narrow)...)
	}
	return s
}

// redefined is the step to the second revision of the definition: its versions,
// and the wait until v1 is served as they say.
func redefined(s story.Story, versions string) story.Step {
	return story.Step{
		Method: "PATCH", Path: story.Definitions + "/things." + s.Group(), Type: story.MergePatch, Brief: true, Body: encoded(schema{"spec": schema{"versions": json.RawMessage(versions)}}),
		Await: &story.Step{Method: "POST", Path: s.Things("v1") + "?dryRun=All", Type: story.JSON, Until: `"revision":2`,
			Body: encoded(schema{"apiVersion": s.Group() + "/v1", "kind": "Thing", "metadata": schema{"name": "x"}})},
	}
}

// Stories are the stories of seeds from one on.
func Stories(first uint64, count int) []story.Story { return all(Story, first, count) }

func all(tell func(seed uint64) story.Story, first uint64, count int) []story.Story {
	out := make([]story.Story, count)
	for i := range out {
		out[i] = tell(first + uint64(i))
	}
	return out
}

// versions is a definition's one version; revision is a field's default, by
// which clients see that it is served.
func versions(spec schema, revision int) string {
	return story.Version(encoded(schema{"type": "object", "properties": schema{"spec": spec, "revision": schema{"type": "integer", "default": revision}}}))
}

// thing is an object of the story.
func (g generator) thing(s story.Story, name string, spec schema, wrong int) string {
	o := schema{"apiVersion": s.Group() + "/v1", "kind": "Thing", "metadata": schema{"name": name}}
	if !g.often(wrong) {
		o["spec"] = g.flawed(spec, 4, wrong)
	}
	if g.often(wrong) {
		o[pick(g, "status", "extra")] = schema{"a": nil}
	}
	return encoded(o)
}

// changes are patches of a stored object.
func (g generator) changes(s story.Story, i int, spec schema) []story.Step {
	path := fmt.Sprint(s.Things("v1"), "/s", i)
	patches := []any{schema{"metadata": schema{"labels": schema{"a": fmt.Sprint(g.IntN(9))}}}, schema{"spec": g.flawed(spec, 4, 3)}}
	if properties := spec["properties"].(schema); len(properties) > 0 {
		name := pick(g, g.keys(properties)...)
		patches = append(patches, schema{"spec": schema{name: g.flawed(properties[name].(schema), 3, 5)}}, schema{"spec": schema{name: nil}})
	}
	var steps []story.Step
	for _, p := range patches {
		steps = append(steps, story.Step{Method: "PATCH", Path: path, Type: story.MergePatch, Body: encoded(p)})
	}
	return steps
}

// encoded is the JSON of what the generator made, with its keys in order.
func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it makes no numbers that JSON lacks
	}
	return string(b)
}
