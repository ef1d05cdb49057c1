package parameters

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

const (
	apply = "application/apply-patch+yaml"
	// alone selects the table's own object where there are others.
	alone = "labelSelector=table%3Dyes"
)

// sheet is a story that is being written, about the objects of one collection.
type sheet struct {
	story.Story
	collection string
	object     func(name string) string
}

// custom is the story of a parameter of requests for a custom resource.
func custom(p parameter) story.Story {
	s := &sheet{Story: story.Story{Name: "parameter " + strings.ToLower(p.name)}}
	s.Definition = s.Define(story.Version(`{"type":"object","properties":{"spec":{"type":"object","properties":{"host":{"type":"string"}}}}}`))
	s.collection = s.Things("v1")
	s.object = func(name string) string {
		return `{"apiVersion":"` + s.Group() + `/v1","kind":"Thing","metadata":{"name":"` + name + `","labels":{"table":"yes"}},"spec":{"host":"h"}}`
	}
	s.parameter(p)
	return s.Story
}

// builtIn is the same of a kind of Kubernetes' own.
func builtIn(p parameter) story.Story {
	s := &sheet{Story: story.Story{Name: "parameter of a built-in kind " + strings.ToLower(p.name)}}
	namespace := "parameter-" + strings.ToLower(p.name)
	s.collection = "/api/v1/namespaces/" + namespace + "/configmaps"
	s.object = func(name string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `","labels":{"table":"yes"}},"data":{"a":"b"}}`
	}
	s.Before = []story.Step{
		{Method: "POST", Path: "/api/v1/namespaces", Type: story.JSON, Body: `{"metadata":{"name":"` + namespace + `"}}`},
		{Method: "DELETE", Path: s.collection + "/there"}, {Method: "DELETE", Path: s.collection + "/other"},
	}
	s.parameter(p)
	return s.Story
}

// parameter makes all requests with all spellings of a parameter. A dry run is
// part of what is tried where the parameter has to do with it: then it shows
// what was written nevertheless.
func (s *sheet) parameter(p parameter) {
	s.Base, s.Sample = s.collection, s.object("there")
	s.restore()
	for _, query := range p.spellings() {
		s.reads(query, p.name == "watch")
		dry := "&dryRun=All"
		if p.name == "dryRun" {
			dry = ""
		}
		s.writes(query, dry)
	}
}

// reads are reads of the object and of the collection, and a watch of it: the
// parameter itself may ask for that.
func (s *sheet) reads(query string, asksToWatch bool) {
	s.Add(story.Step{Method: "GET", Path: s.collection + "/there?" + query})
	list := s.collection + "?" + query
	if !strings.Contains(strings.ToLower(query), "labelselector") {
		list += "&" + alone
	}
	if !asksToWatch {
		s.Add(story.Step{Method: "GET", Path: list})
	}
	if strings.Contains(query, "imeoutSeconds=-1") || strings.Contains(query, "imeoutSeconds=92") {
		return // the first event and the end come at once
	}
	watch := list
	if !asksToWatch {
		watch += "&watch=1"
	}
	if !strings.Contains(query, "imeoutSeconds") {
		watch += "&timeoutSeconds=1"
	}
	if !strings.Contains(strings.ToLower(query), "resourceversion") {
		watch += "&resourceVersion=0"
	}
	s.Add(story.Step{Method: "GET", Path: watch, Events: true, Count: 1})
}

// writes are all that can be written. What they leave is looked at and undone,
// where they are no dry runs.
func (s *sheet) writes(query, dry string) {
	q := "?" + query + dry
	s.change(dry, story.Step{Method: "POST", Path: s.collection + q, Body: s.object("other")})
	s.change(dry, story.Step{Method: "PUT", Path: s.collection + "/there" + q, Body: strings.Replace(s.object("there"), `"labels"`, `"annotations":{"put":"`+slug(query)+`"},"labels"`, 1)})
	s.change(dry, story.Step{Method: "PATCH", Path: s.collection + "/there" + q, Type: story.MergePatch, Body: `{"metadata":{"annotations":{"patched":"` + slug(query) + `"}}}`})
	applied := q
	if !strings.Contains(query, "ieldManager") {
		applied += "&fieldManager=table"
	}
	s.change(dry, story.Step{Method: "PATCH", Path: s.collection + "/there" + applied, Type: apply, Body: s.object("there")})
	s.change(dry, story.Step{Method: "DELETE", Path: s.collection + "/there" + q})
	if !strings.Contains(strings.ToLower(query), "labelselector") {
		q += "&" + alone
	}
	s.change(dry, story.Step{Method: "DELETE", Path: s.collection + q})
}

func slug(query string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, query)
}

// change makes a write. Where it may have been kept, it is looked at what is
// there, and the objects are as at the start again.
func (s *sheet) change(dry string, step story.Step) {
	s.Add(step)
	if dry != "" {
		return
	}
	if !strings.Contains(step.Path, unreadable[0]) && !strings.Contains(step.Path, unreadable[1]) {
		for _, name := range []string{"there", "other"} {
			s.Add(story.Step{Method: "GET", Path: s.collection + "/" + name})
		}
	}
	s.restore()
}

// restore makes the objects as they are at the start.
func (s *sheet) restore() {
	s.Add(story.Step{Method: "DELETE", Path: s.collection, Type: story.JSON, Body: `{"propagationPolicy":"Background"}`, Brief: true})
	s.Add(story.Step{Method: "POST", Path: s.collection, Body: s.object("there"), Brief: true})
}
