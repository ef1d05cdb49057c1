package ownership

import (
	"slices"
	"strings"
)

// Of the object of a story. Everything is about one object, a ConfigMap or a
// Shop, of the story's own name.
type tale struct {
	name  string
	steps []Step
}

const (
	configMaps = "/api/v1/namespaces/" + Namespace + "/configmaps"
	shops      = "/apis/" + Group + "/v1/namespaces/" + Namespace + "/shops"
	betaShops  = "/apis/" + Group + "/v1beta1/namespaces/" + Namespace + "/shops"
)

// The media types of patches.
const (
	Apply     = "application/apply-patch+yaml"
	Merge     = "application/merge-patch+json"
	JSONPatch = "application/json-patch+json"
	Strategic = "application/strategic-merge-patch+json"
	JSON      = "application/json"
)

// kind is a collection and how its objects begin.
type kind struct{ path, apiVersion, kind string }

var (
	configMap = kind{configMaps, "v1", "ConfigMap"}
	shop      = kind{shops, Group + "/v1", "Shop"}
	betaShop  = kind{betaShops, Group + "/v1beta1", "Shop"}
)

// body is an object of the story: rest is what follows its metadata, and may
// begin with more of it ("labels":{..}} first).
func (t *tale) body(k kind, meta, rest string) string {
	if meta != "" {
		meta = "," + meta
	}
	if rest != "" {
		rest = "," + rest
	}
	return `{"apiVersion":"` + k.apiVersion + `","kind":"` + k.kind + `","metadata":{"name":"` + t.name + `"` + meta + `}` + rest + `}`
}

func (t *tale) send(method, path, media, body string) *tale {
	t.steps = append(t.steps, Step{Method: method, Path: path, Type: media, Body: body})
	return t
}

// apply applies rest as a manager, with more parameters ("&force=true") and
// below a subresource ("/status").
func (t *tale) apply(k kind, manager, rest string) *tale {
	return t.applyAt(k, "", manager, "", t.body(k, "", rest))
}

func (t *tale) force(k kind, manager, rest string) *tale {
	return t.applyAt(k, "", manager, "&force=true", t.body(k, "", rest))
}

func (t *tale) applyAt(k kind, below, manager, more, body string) *tale {
	return t.send("PATCH", k.path+"/"+t.name+below+"?fieldManager="+manager+more, Apply, body)
}

func (t *tale) create(k kind, manager, rest string) *tale {
	return t.send("POST", k.path+"?fieldManager="+manager, JSON, t.body(k, "", rest))
}

func (t *tale) merge(k kind, manager, patch string) *tale {
	return t.send("PATCH", k.path+"/"+t.name+"?fieldManager="+manager, Merge, patch)
}

func (t *tale) mergeAt(k kind, below, manager, patch string) *tale {
	return t.send("PATCH", k.path+"/"+t.name+below+"?fieldManager="+manager, Merge, patch)
}

func (t *tale) get(k kind) *tale { return t.send("GET", k.path+"/"+t.name, "", "") }

// by makes the last step come from a client of that name.
func (t *tale) by(agent string) *tale {
	t.steps[len(t.steps)-1].Agent = agent
	return t
}

// Stories are all stories.
func Stories() []Story {
	var all []Story
	for _, group := range []map[string]func(*tale){basics, merging, lists, metadata, versions, builtins} {
		for name, tell := range group {
			t := &tale{name: objectName(name)}
			tell(t)
			all = append(all, Story{name, t.steps})
		}
	}
	slices.SortFunc(all, func(a, b Story) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func objectName(story string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == ' ' || r == ',' || r == '_' {
			return '-'
		}
		return r
	}, story))
}
