// Package story owns what recordings of kube-apiserver are made of: stories of
// requests about one definition, what a server answers to them, and how they are
// told. The packages below it hold the stories; the program in
// test/cmd/record tells them to a kube-apiserver and writes down what
// it answers, that in test/cmd/compare tells them to two servers, and
// the tests of package e2e tell them to a gateway and compare. Where a gateway
// answers otherwise on purpose is in lists of the package differences.
//
// It knows requests and replies as text, and must not know how either server
// comes to its answer.
package story

import "strings"

// The media types of request bodies.
const (
	JSON       = "application/json"
	MergePatch = "application/merge-patch+json"
	JSONPatch  = "application/json-patch+json"
)

// Definitions is the path of all definitions.
const Definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// Step is one request.
type Step struct {
	// Method, Path (with its query), Type and Body are sent.
	Method, Path, Type, Body string
	// Accept is the media type that is asked for, unless it is empty.
	Accept string
	// Headers are names and values in turn of further headers, any of them repeatedly.
	Headers []string
	// Until is a text that the reply will hold once the server has taken up an
	// earlier change of the definition; the request is repeated until then.
	Until string
	// Await is repeated likewise after a success, and its reply does not count.
	Await *Step
	// Events tells that the reply is a stream of them, in any order. Count is how
	// many of them are read; 0 are all.
	Events bool
	Count  int
	// Marks tells that later watches begin where the object in the reply is.
	Marks bool
	// Brief tells that of a success the code says everything.
	Brief bool
}

// Story is a sequence of requests about the custom resource of one definition.
type Story struct {
	// Name begins with the rows of the feature list that it shows.
	Name string
	// Definition is created first; without one there are only the steps.
	Definition string
	// Doubtful tells that the definition may be refused, which ends the story.
	Doubtful bool
	// Unordered tells that the order of causes is that of Go's maps.
	Unordered bool
	// Shared tells that the server writes the objects too, at times of its own:
	// managedFields and revisions are not compared.
	Shared bool
	Steps  []Step
	// Base is the path that most requests are below, and Sample an object in JSON
	// that most bodies are made of, with its status: recordings tell by what requests
	// differ from them.
	Base, Sample string
	// Before and After are further steps, whatever is answered to them, before a
	// story without a definition and after it.
	Before, After []Step
}

// Add adds a step; a body of no type is JSON.
func (s *Story) Add(step Step) {
	if step.Body != "" && step.Type == "" {
		step.Type = JSON
	}
	s.Steps = append(s.Steps, step)
}

// Group is the API group of a story's own.
func (s Story) Group() string { return slug(s.Name) + ".exchange.example.com" }

// Things is the collection of the story's objects at a version.
func (s Story) Things(version string) string {
	return "/apis/" + s.Group() + "/" + version + "/things"
}

// definition is the path of the story's definition.
func (s Story) definition() string { return Definitions + "/things." + s.Group() }

func slug(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name)), "-")
}

// Define fills in a definition: GROUP is the story's group, and versions the
// list of them.
func (s Story) Define(versions string) string {
	return strings.NewReplacer("GROUP", s.Group(), "VERSIONS", versions).Replace(definition)
}

// Version is one that is served and stored, for [Story.Define].
func Version(schema string) string {
	return `[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + schema + `}}]`
}

const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.GROUP"},
"spec":{"group":"GROUP","scope":"Cluster","names":{"plural":"things","singular":"thing","kind":"Thing"},"versions":VERSIONS}}`
