// Package layouts owns stories of built-in kinds that have versions with other
// fields, autoscalers and events: what is written at one is read, watched, patched
// and deleted at the other. kube-apiserver's answers are in test/recorded;
// test/cmd/record writes them.
//
// It must not know how a server converts, nor which one is asked.
package layouts

import (
	"path"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "layouts"

// Collections are the kinds that stories create objects of, by their paths below
// a namespace.
var Collections = []string{"events"}

// Stories are all of them.
func Stories() []story.Story {
	var all []story.Story
	for _, s := range []struct {
		name string
		tell func(*scene)
	}{
		{"VER-09 autoscalers at both versions", autoscalers},
		{"VER-09 the status of autoscalers at both versions", statuses},
		{"VER-09 autoscalers that are refused", refusedAutoscalers},
		{"VER-09 events in both groups", events},
		{"VER-09 changes of events in both groups", changes},
		{"VER-09 events that are refused", refusedEvents},
	} {
		sc := &scene{Story: story.Story{Name: s.name}}
		sc.Base = Namespace(sc.Story)
		sc.ns = path.Base(sc.Base)
		sc.brief("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+sc.ns+`"}}`)
		s.tell(sc)
		sc.brief("DELETE", Namespace(sc.Story), "")
		all = append(all, sc.Story)
	}
	return all
}

// Namespace is the path of the namespace that a story makes and removes. A
// server without controllers only marks it as deleted.
func Namespace(s story.Story) string {
	name, _, _ := strings.Cut(s.Group(), ".")
	return "/api/v1/namespaces/lay-" + strings.TrimPrefix(name, "ver-09-")
}

// scene is a story that is being written, in a namespace of its own.
type scene struct {
	story.Story
	ns string
}

// add adds a step; NS in its path and its body is the namespace.
func (s *scene) add(step story.Step) {
	step.Path, step.Body = strings.ReplaceAll(step.Path, "NS", s.ns), strings.ReplaceAll(step.Body, "NS", s.ns)
	s.Add(step)
}

// brief is what only has to succeed.
func (s *scene) brief(method, path, body string) {
	s.add(story.Step{Method: method, Path: path, Body: body, Brief: true})
}

func (s *scene) get(paths ...string) {
	for _, path := range paths {
		s.add(story.Step{Method: "GET", Path: path})
	}
}

func (s *scene) post(path, body string) {
	s.add(story.Step{Method: "POST", Path: path, Body: body})
}
func (s *scene) put(path, body string) {
	s.add(story.Step{Method: "PUT", Path: path, Body: body})
}

func (s *scene) merge(path, patch string) {
	s.add(story.Step{Method: "PATCH", Path: path, Type: story.MergePatch, Body: patch})
}

// table asks for a table.
func (s *scene) table(path string) {
	s.add(story.Step{Method: "GET", Path: path, Accept: "application/json;as=Table;v=v1;g=meta.k8s.io"})
}

// list asks for the metadata of what there is: of the items of whole lists every
// server says otherwise what they are.
func (s *scene) list(paths ...string) {
	for _, path := range paths {
		s.add(story.Step{Method: "GET", Path: path, Accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"})
	}
}

// watch asks for what there is, as events.
func (s *scene) watch(path string) {
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	s.add(story.Step{Method: "GET", Path: path + sign + "watch=1&timeoutSeconds=1", Events: true})
}
