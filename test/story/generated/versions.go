package generated

import (
	"fmt"
	"math/rand/v2"

	"github.com/wasmgate/wasmgate/test/story"
)

// VersionsTable is the name of the table of stories of several versions among the
// recordings, and VersionsRecorded is how many stories it holds, from seed 1.
const (
	VersionsTable    = "versions"
	VersionsRecorded = 16
)

// both are two versions with schemas of their own.
type both struct {
	spec, status [2]schema
	// scale tells which versions have a scale, and stored which is stored.
	scale  [2]bool
	stored int
}

// VersionsStory makes the story of a seed about two versions of a kind, with a
// status and scales: objects are written at either version, to the whole, the
// status and the scale, read at both, listed and watched, also after the other
// version has become the stored one.
func VersionsStory(seed uint64) story.Story {
	g := generator{rand.New(rand.NewPCG(seed, 10))}
	s := story.Story{Name: fmt.Sprintf("versions %d", seed), Doubtful: true, Unordered: true}
	b := g.both()
	s.Definition = s.Define(b.versions(1))
	for i := range stored {
		path := fmt.Sprint("/s", i)
		v := g.IntN(2)
		s.Steps = append(s.Steps, story.Step{Method: "POST", Path: s.Things(version(v)), Type: story.JSON, Body: g.scaled(s, b, v, path[1:])})
		s.Steps = append(s.Steps, g.rewrites(s, b, path)...)
	}
	s.Steps = append(s.Steps, lists(s)...)
	b.stored = 1 - b.stored
	s.Steps = append(s.Steps, redefined(s, b.versions(2)))
	for i := range stored {
		s.Steps = append(s.Steps, g.rewrites(s, b, fmt.Sprint("/s", i))...)
	}
	s.Steps = append(s.Steps, lists(s)...)
	return s
}

// VersionsStories are the stories of seeds from one on.
func VersionsStories(first uint64, count int) []story.Story {
	return all(VersionsStory, first, count)
}

func version(i int) string { return fmt.Sprint("v", i+1) }

// both makes two versions, of which the second allows less in places and has
// other defaults.
func (g generator) both() both {
	spec, status := g.object(2), g.object(2)
	for _, part := range []schema{spec, status} {
		delete(part, "required") // so that most of what is tried is accepted
		part["properties"].(schema)["replicas"] = schema{"type": "integer", "minimum": 0, "maximum": 9}
	}
	status["properties"].(schema)["selector"] = schema{"type": "string"}
	return both{
		spec: [2]schema{spec, g.tightened(spec)}, status: [2]schema{status, g.tightened(status)},
		scale: [2]bool{true, g.often(50)}, stored: g.IntN(2),
	}
}

// versions is the list of versions of a definition; revision is a field's
// default, by which clients see that it is served.
func (b both) versions(revision int) string {
	var all []any
	for i := range 2 {
		subresources := schema{"status": schema{}}
		if b.scale[i] {
			subresources["scale"] = schema{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}
		}
		all = append(all, schema{
			"name": version(i), "served": true, "storage": i == b.stored, "deprecated": i == 0 && revision > 1, "subresources": subresources,
			"additionalPrinterColumns": []any{schema{"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"}, schema{"name": "A", "type": "string", "jsonPath": ".status.a"}},
			"schema": schema{"openAPIV3Schema": schema{"type": "object", "properties": schema{
				"spec": b.spec[i], "status": b.status[i], "revision": schema{"type": "integer", "default": revision},
			}}},
		})
	}
	return encoded(all)
}

// scaled is an object at a version.
func (g generator) scaled(s story.Story, b both, v int, name string) string {
	o := schema{"apiVersion": s.Group() + "/" + version(v), "kind": "Thing", "metadata": schema{"name": name}, "spec": g.counted(b.spec[v], 2)}
	if g.often(40) {
		o["status"] = g.counted(b.status[v], 2)
	}
	return encoded(o)
}

// counted is a value that says how many replicas there are.
func (g generator) counted(of schema, wrong int) any {
	value := g.flawed(of, 3, wrong)
	if fields, ok := value.(schema); ok {
		fields["replicas"] = g.IntN(5)
	}
	return value
}

// rewrites are writes to an object through each of its paths, at either version,
// and reads of what became of it.
func (g generator) rewrites(s story.Story, b both, path string) []story.Step {
	var steps []story.Step
	for _, below := range []string{"", "/status", "/scale", "/status"} {
		v := g.IntN(2)
		patch := schema{"spec": g.counted(b.spec[v], 3), "status": g.counted(b.status[v], 3)}
		if below == "/scale" {
			patch = schema{"spec": schema{"replicas": pick[any](g, 0, 3, 7, 12, -1, nil, "x")}}
		}
		steps = append(steps,
			story.Step{Method: "PATCH", Path: s.Things(version(v)) + path + below, Type: story.MergePatch, Body: encoded(patch)},
			story.Step{Method: "GET", Path: s.Things(version(1-v)) + path + pick(g, "", "/status", "/scale")})
	}
	return steps
}

// lists read all objects at each version, as they are, as a table, and as a
// watch begins.
func lists(s story.Story) []story.Step {
	var steps []story.Step
	for v := range 2 {
		things := s.Things(version(v))
		steps = append(steps,
			story.Step{Method: "GET", Path: things},
			story.Step{Method: "GET", Path: things, Accept: "application/json;as=Table;g=meta.k8s.io;v=v1"},
			story.Step{Method: "GET", Path: things + "?watch=true&resourceVersion=0&timeoutSeconds=1", Events: true})
	}
	return steps
}
