// Package standards owns a table of what the admission plugins decide that nobody
// configures: PodSecurity by the labels of namespaces, and those of claims, Ingresses
// and nodes. It is told as stories; kube-apiserver's answers are in test/recorded.
//
// It must not know how a server decides, nor which one is asked.
package standards

import (
	"path"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "standards"

// Collections are the kinds that stories create objects of, by their paths below
// a namespace.
var Collections = []string{"pods", "persistentvolumeclaims", "serviceaccounts"}

// Stories are all of them. They make classes that are defaults, and nodes, so that they
// are told one after the other to a server of their own.
func Stories() []story.Story {
	var all []story.Story
	for _, s := range []struct {
		name string
		tell func(*scene)
	}{
		{"levels of pods", levels},
		{"levels of namespaces", labels},
		{"levels of templates", templates},
		{"levels and pods that are there", present},
		{"default classes", classes},
		{"claims that grow", growth},
		{"nodes and where they are", places},
		{"services of other types", services},
		{"devices of claims", devices},
		{"ranges of addresses", ranges},
		{"warnings about pods", warned},
		{"warnings about other kinds", warnedOthers},
	} {
		// A binding writes what the order of managedFields depends on, by the second.
		sc := &scene{Story: story.Story{Name: s.name, Shared: strings.HasPrefix(s.name, "nodes")}}
		sc.Base = Namespace(sc.Story)
		sc.ns = path.Base(sc.Base)
		sc.send("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+sc.ns+`"}}`)
		s.tell(sc)
		sc.send("DELETE", sc.Base, "")
		all = append(all, sc.Story)
	}
	return all
}

// Namespace is the path of the namespace that a story makes and removes.
func Namespace(s story.Story) string {
	return "/api/v1/namespaces/std-" + strings.SplitN(s.Group(), ".", 2)[0]
}

// bare asks for metadata alone, where the rest has times of the server's.
const bare = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// scene is a story that is being written, in a namespace of its own.
type scene struct {
	story.Story
	ns string
}

// send sends what only has to succeed.
func (s *scene) send(method, path, body string) {
	s.Add(story.Step{Method: method, Path: path, Body: body, Brief: true})
}

// try creates something below the namespace and keeps nothing.
func (s *scene) try(what, body string) {
	s.Add(story.Step{Method: "POST", Path: s.Base + "/" + what + "?dryRun=All", Body: body})
}

// label changes labels of the namespace, as JSON.
func (s *scene) label(labels string) {
	s.Add(story.Step{Method: "PATCH", Path: s.Base, Type: story.MergePatch, Body: `{"metadata":{"labels":{` + labels + `}}}`})
}

// level labels the namespace, which the server may know of a moment later: then it
// refuses pods with such a text, or warns of them.
func (s *scene) level(mode, level, until string) {
	step := story.Step{Method: "PATCH", Path: s.Base, Type: story.MergePatch, Brief: true, Body: `{"metadata":{"labels":{"pod-security.kubernetes.io/` + mode + `":"` + level + `"}}}`}
	if until != "" {
		step.Await = &story.Step{Method: "POST", Path: s.Base + "/pods?dryRun=All", Type: story.JSON, Body: pod(`"hostPID":true,"containers":[` + plain + `]`), Until: until}
	}
	s.Add(step)
}

// pod is a pod with such a spec.
func pod(spec string) string { return `{"metadata":{"name":"p"},"spec":{` + spec + `}}` }
