package combined

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// The media types of patches.
const (
	apply    = "application/apply-patch+yaml"
	strategy = "application/strategic-merge-patch+json"
)

// after is what follows a text, which is in another.
func after(s, text string) string {
	_, rest, _ := strings.Cut(s, text)
	return rest
}

// sheet is a story that is being written, about one object and its subresources.
type sheet struct {
	story.Story
	generator
	kind
	collection string
	// rounds is how often each method is tried at each subresource.
	rounds int
}

// subresource makes requests with all methods at a subresource of the object.
func (s *sheet) subresource(name string) {
	there := s.collection + "/" + s.name()
	if s.often(8) {
		there = s.collection + "/nothing"
	}
	path := there + "/" + name
	for range s.rounds {
		for _, method := range []string{"GET", "HEAD", "PUT", story.MergePatch, story.JSONPatch, strategy, apply, "POST", "DELETE"} {
			step := story.Step{Method: method, Path: path}
			switch method {
			case "PUT":
				step.Body = s.spoiled(s.body(name))
			case "POST":
				step.Body = s.spoiled(s.posted(name))
				step.Brief = name == "token"
			case story.MergePatch, strategy:
				step.Method, step.Type, step.Body = "PATCH", method, s.merged(name)
			case story.JSONPatch:
				step.Method, step.Type = "PATCH", method
				step.Body = `[{"op":"add","path":"/metadata/annotations","value":{"json":"` + s.number() + `"}}]`
			case apply:
				step.Method, step.Type, step.Body = "PATCH", method, s.body(name)
			}
			step = s.disguise(step)
			if step.Method == "PATCH" && step.Type == apply && !strings.Contains(step.Path, "fieldManager") && s.often(80) {
				step.Path += map[bool]string{true: "&", false: "?"}[strings.Contains(step.Path, "?")] + "fieldManager=me"
			}
			if step.Body != "" && s.often(8) {
				step.Type = pick(s.generator, []string{"application/yaml", "text/plain", "application/cbor", "application/vnd.kubernetes.protobuf"})
			}
			s.Add(step)
			if ends[name] && method == "POST" { // it may be gone, or bound
				s.Add(story.Step{Method: "GET", Path: there})
				s.restore()
			}
		}
		s.Add(story.Step{Method: "GET", Path: s.collection + "/" + s.name()})
	}
}

// ends are subresources that can end or bind an object.
var ends = map[string]bool{"eviction": true, "binding": true}

// restore makes the object as it is at the start.
func (s *sheet) restore() {
	s.Add(story.Step{Method: "DELETE", Path: s.collection + "/" + s.name(), Body: `{"gracePeriodSeconds":0,"propagationPolicy":"Background"}`, Brief: true})
	s.Add(story.Step{Method: "POST", Path: s.collection, Body: s.object, Brief: true})
}

// body is what is put to a subresource, or applied.
func (s *sheet) body(name string) string {
	if name == "scale" {
		return `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"` + s.name() + `"},"spec":{"replicas":` + s.number() + `}}`
	}
	body := strings.Replace(s.object, `"labels":{`, `"labels":{"put":"`+s.number()+`",`, 1)
	if s.often(70) && s.status != "" {
		body = body[:len(body)-1] + `,"status":` + strings.ReplaceAll(s.status, "NUMBER", s.number()) + `}`
	}
	return body
}

// posted is what is posted to a subresource.
func (s *sheet) posted(name string) string {
	meta := `"metadata":{"name":"` + s.name() + `"}`
	switch name {
	case "binding":
		return `{"apiVersion":"v1","kind":"Binding",` + meta + `,"target":{"kind":"Node","name":"` + pick(s.generator, []string{"there", "elsewhere", ""}) + `"}}`
	case "eviction":
		return pick(s.generator, []string{`{"apiVersion":"policy/v1","kind":"Eviction",` + meta + `}`, `{"apiVersion":"policy/v1","kind":"Eviction",` + meta + `,"deleteOptions":{"gracePeriodSeconds":0,"dryRun":["All"]}}`, `{"apiVersion":"policy/v1beta1","kind":"Eviction",` + meta + `}`})
	case "token":
		return `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",` + pick(s.generator, []string{`"spec":{"audiences":["a"]}`, `"spec":{"expirationSeconds":600}`, `"spec":{"expirationSeconds":1}`, `"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"nothing"}}`}) + `}`
	}
	return s.body(name)
}

// merged is a patch of a subresource.
func (s *sheet) merged(name string) string {
	if name == "scale" {
		return pick(s.generator, []string{`{"spec":{"replicas":` + s.number() + `}}`, `{"spec":{"replicas":-1}}`, `{"spec":{"replicas":"x"}}`, `{"status":{"replicas":` + s.number() + `}}`, `{"metadata":{"labels":{"a":"b"}}}`, `{"spec":{"odd":1}}`})
	}
	patches := []string{`{"metadata":{"annotations":{"merged":"` + s.number() + `"}}}`, `{"metadata":{"labels":{"merged":"` + s.number() + `"}},"odd":1}`, `{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"name":"other"}}`, `{}`}
	if s.status != "" {
		status := `{"status":` + strings.ReplaceAll(s.status, "NUMBER", s.number()) + `}`
		patches = append(patches, status, status, `{"status":7}`, `{"status":null}`)
	}
	return pick(s.generator, patches)
}

// spoiled is a body, often as it is, or with a mistake.
func (s *sheet) spoiled(body string) string {
	if s.often(60) {
		return body
	}
	name := `"name":"` + s.name() + `"`
	return pick(s.generator, []string{
		strings.Replace(body, name, `"name":"other"`, 1), strings.Replace(body, name, name+`,"resourceVersion":"1"`, 1), strings.Replace(body, name, name+`,"uid":"x"`, 1),
		strings.Replace(body, name, name+`,"namespace":"odd"`, 1), strings.Replace(body, name, name+`,"odd":1`, 1), strings.Replace(body, name, name+","+name, 1), strings.Replace(body, `"kind":"`, `"kind":"Odd`, 1), strings.Replace(body, `"apiVersion":"`, `"apiVersion":"odd/`, 1), `{}`, `null`, ``, body[:len(body)-1],
	})
}
