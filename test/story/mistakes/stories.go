package mistakes

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "mistakes"

// eachUpdate is of how many mistakes one is made in an update, too, where most are
// refused by the same rules.
const eachUpdate = 4

// created is in the reply to a valid object.
const created = `"creationTimestamp"`

//go:embed kinds.yaml
var kinds []byte

// kind is a built-in kind with a valid object.
type kind struct {
	Plural  string `json:"plural"`
	Cluster bool   `json:"cluster"`
	// There is the name of the object that exists, Other that of those that are
	// created.
	There string `json:"name"`
	Other string `json:"other"`
	// Within tells stories of one kind apart, and its namespaces.
	Within string `json:"within"`
	// Creations tells that nothing is updated.
	Creations bool           `json:"creations"`
	Object    map[string]any `json:"object"`
	Status    map[string]any `json:"status"`
	// Also and AlsoStatus are merge patches of the object and of its status.
	Also       []map[string]any `json:"also"`
	AlsoStatus []map[string]any `json:"alsoStatus"`
}

// Stories are the requests, a story for each kind.
func Stories() ([]story.Story, error) {
	var all []kind
	if err := yaml.UnmarshalStrict(kinds, &all); err != nil {
		return nil, err
	}
	var stories []story.Story
	for _, k := range all {
		k.There, k.Other = cmp.Or(k.There, "there"), cmp.Or(k.Other, "other")
		s, err := k.story()
		if err != nil {
			return nil, err
		}
		stories = append(stories, s)
	}
	return stories, nil
}

// story asks about wrong objects, has the valid one created, and asks about wrong
// updates of it.
func (k kind) story() (story.Story, error) {
	s := story.Story{Name: strings.ReplaceAll(k.Plural+"."+k.apiVersion(), "/", ".")}
	if k.Within != "" {
		s.Name += "." + k.Within
	}
	goType, err := k.goType()
	if err != nil {
		return s, err
	}
	there := k.collection() + "/" + k.There
	s.Base, s.Sample = k.collection(), k.whole()
	end := []story.Step{
		{Method: "DELETE", Path: there, Type: story.JSON, Body: `{"gracePeriodSeconds":0,"propagationPolicy":"Background"}`},
		{Method: "PATCH", Path: there, Type: story.MergePatch, Body: `{"metadata":{"finalizers":null}}`},
	}
	if k.Plural == "namespaces" {
		end = append(end, story.Step{Method: "PUT", Path: there + "/finalize", Type: story.JSON, Body: text(map[string]any{"metadata": map[string]any{"name": k.There}})})
	}
	s.Before = append([]story.Step{{Method: "POST", Path: "/api/v1/namespaces", Type: story.JSON, Body: `{"metadata":{"name":"` + k.namespace() + `"}}`}}, end...)
	s.Before = append(s.Before, story.Step{Method: "GET", Path: there, Until: `"Failure"`})
	s.After = end
	create := func(path string, o map[string]any) {
		s.Add(story.Step{Method: "POST", Path: path, Body: text(o), Brief: true})
	}
	update := func(path string, changes []any) {
		s.Add(story.Step{Method: "PATCH", Path: path, Type: story.JSONPatch, Body: text(changes), Brief: true})
	}
	bodies := wrong(k.Object, goType, k.Also)
	for _, body := range bodies {
		create(k.collection()+"?dryRun=All", k.object(k.Other, body))
	}
	create(k.collection(), k.object(k.There, k.Object))
	s.Steps[len(s.Steps)-1].Until = created
	for i, body := range bodies {
		if !k.Creations && i%eachUpdate == 0 {
			update(there+"?dryRun=All", changes(k.Object, body))
		}
	}
	if k.Status == nil {
		return s, nil
	}
	status, ok := fieldOf(goType, "status")
	if !ok {
		return s, fmt.Errorf("%s have no status", k.Plural)
	}
	update(there+"/status", changes(nil, map[string]any{"status": k.Status}))
	s.Steps[len(s.Steps)-1].Until = created
	for _, body := range wrong(k.Status, status, k.AlsoStatus) {
		update(there+"/status?dryRun=All", changes(nil, map[string]any{"status": body}))
	}
	return s, nil
}

func (k kind) apiVersion() string { return k.Object["apiVersion"].(string) }

// goType is the Go type of the kind's objects.
func (k kind) goType() (reflect.Type, error) {
	gv, err := schema.ParseGroupVersion(k.apiVersion())
	if err != nil {
		return nil, err
	}
	o, err := story.Types.New(gv.WithKind(k.Object["kind"].(string)))
	if err != nil {
		return nil, err
	}
	return reflect.TypeOf(o).Elem(), nil
}

func (k kind) collection() string {
	root := "/apis/" + k.apiVersion()
	if !strings.Contains(k.apiVersion(), "/") {
		root = "/api/" + k.apiVersion()
	}
	if k.Cluster {
		return root + "/" + k.Plural
	}
	return root + "/namespaces/" + k.namespace() + "/" + k.Plural
}

// namespace is where the objects are.
func (k kind) namespace() string { return "wrong-" + cmp.Or(k.Within, k.Plural) }

// object is a body under a name, unless that is what is wrong about it.
func (k kind) object(name string, body map[string]any) map[string]any {
	o := maps.Clone(body)
	meta := map[string]any{"name": name}
	if own, ok := o["metadata"].(map[string]any); ok {
		maps.Copy(meta, own)
	}
	o["metadata"] = meta
	return o
}

// whole is the object with its status.
func (k kind) whole() string {
	o := k.object(k.There, k.Object)
	if k.Status != nil {
		o["status"] = k.Status
	}
	return text(o)
}

// changes are a JSON patch that makes of the fields at the top of one object those
// of another, and adds metadata.
func changes(from, to map[string]any) []any {
	var out []any
	meta, _ := to["metadata"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		out = append(out, map[string]any{"op": "add", "path": "/metadata/" + name, "value": meta[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(to)) {
		if name != "metadata" && !reflect.DeepEqual(from[name], to[name]) {
			out = append(out, map[string]any{"op": "add", "path": "/" + name, "value": to[name]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if to[name] == nil {
			out = append(out, map[string]any{"op": "remove", "path": "/" + name})
		}
	}
	return out
}

// text is a JSON value as text, which cannot fail of what was read from YAML.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
