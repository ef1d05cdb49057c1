package builtins

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "builtins"

//go:embed kinds.yaml
var kinds []byte

// kind is a built-in kind as requests name it.
type kind struct {
	Plural  string   `json:"plural"`
	Cluster bool     `json:"cluster"`
	Below   []string `json:"below"`
	There   string   `json:"name"`
	Other   string   `json:"other"`
	Within  string   `json:"namespace"`
	Until   string   `json:"until"`
	// Shared tells that a server writes the objects too, at times of its own.
	Shared bool `json:"shared"`
	// Asked tells that objects are answered and not kept.
	Asked  bool           `json:"asked"`
	Object map[string]any `json:"object"`
	Status map[string]any `json:"status"`
}

// Stories are the requests, a story for each kind.
func Stories() ([]story.Story, error) {
	var all []kind
	if err := yaml.UnmarshalStrict(kinds, &all); err != nil {
		return nil, err
	}
	var stories []story.Story
	for _, k := range all {
		if k.There == "" {
			k.There = "there"
		}
		if k.Other == "" {
			k.Other = "other"
		}
		stories = append(stories, k.story())
	}
	return stories, nil
}

// story has the object of the kind created, the requests made, and the object
// deleted.
func (k kind) story() story.Story {
	s := &sheet{kind: k}
	s.Story.Shared = k.Shared
	s.Name = strings.ReplaceAll(k.Plural+"."+k.apiVersion(), "/", ".")
	s.Base, s.Sample = k.collection(), k.object(k.There, func(o map[string]any) {
		if k.Status != nil {
			o["status"] = k.Status
		}
	})
	s.After = s.removal()
	s.Before = slices.Concat([]story.Step{
		{Method: "POST", Path: "/api/v1/namespaces", Type: story.JSON, Body: `{"metadata":{"name":"` + k.namespace() + `"}}`},
	}, s.removal(), []story.Step{
		{Method: "GET", Path: k.there(), Until: `"Failure"`},
		{Method: "POST", Path: k.collection(), Type: story.JSON, Body: k.object(k.There)},
	})
	if k.Status != nil {
		s.Before = append(s.Before, story.Step{Method: "PUT", Path: k.there() + "/status", Type: story.JSON, Body: k.object(k.There, func(o map[string]any) { o["status"] = k.Status })})
	}
	if !k.Asked {
		s.Before = append(s.Before, story.Step{Method: "GET", Path: k.there(), Until: cmp.Or(k.Until, `"creationTimestamp"`)})
	}
	for _, add := range []func(*sheet){paths, lists, gets, media, writes, bodies, patches, fields, deletions, encodings, watches} {
		add(s)
	}
	return s.Story
}

// removal deletes the object, and does at once what controllers would do at
// last.
func (k kind) removal() []story.Step {
	steps := []story.Step{
		{Method: "DELETE", Path: k.there(), Type: story.JSON, Body: `{"gracePeriodSeconds":0,"propagationPolicy":"Background"}`},
		{Method: "PATCH", Path: k.there(), Type: story.MergePatch, Body: `{"metadata":{"finalizers":null}}`},
	}
	if slices.Contains(k.Below, "finalize") {
		steps = append(steps, story.Step{Method: "PUT", Path: k.there() + "/finalize", Type: story.JSON, Body: k.object(k.There, func(o map[string]any) { o["spec"] = map[string]any{} })})
	}
	return steps
}

func (k kind) apiVersion() string { return k.Object["apiVersion"].(string) }

func (k kind) root() string {
	if strings.Contains(k.apiVersion(), "/") {
		return "/apis/" + k.apiVersion()
	}
	return "/api/" + k.apiVersion()
}

func (k kind) collection() string {
	if k.Cluster {
		return k.root() + "/" + k.Plural
	}
	return k.root() + "/namespaces/" + k.namespace() + "/" + k.Plural
}

// namespace is where the objects of a namespaced kind are.
func (k kind) namespace() string {
	if k.Within != "" {
		return k.Within
	}
	return "table-" + k.Plural
}

// there is the path of the object that exists.
func (k kind) there() string { return k.collection() + "/" + k.There }

// other is a name that nothing has.
func (k kind) other() string { return k.Other }

// object is the kind's object under a name; each of with changes it.
func (k kind) object(name string, with ...func(map[string]any)) string {
	o := clone(k.Object).(map[string]any)
	o["metadata"] = map[string]any{"name": name, "labels": map[string]any{"table": "yes"}}
	for _, change := range with {
		change(o)
	}
	return text(o)
}

// clone copies a JSON value.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for k, item := range out {
			out[k] = clone(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	}
	return v
}

// text is a JSON value as text, which cannot fail of what was read from YAML.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
