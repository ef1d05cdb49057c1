package builtins

import (
	"net/url"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// sheet is the story of a kind that is being written.
type sheet struct {
	story.Story
	kind
}

// send sends a request to the collection, or to what is below it. In below and
// query, THERE stands for the object that exists.
func (s *sheet) send(method, below, media, body string) {
	s.Steps = append(s.Steps, story.Step{Method: method, Path: s.collection() + strings.ReplaceAll(below, "THERE", s.There), Type: media, Body: body})
}

// get sends a GET that accepts a media type.
func (s *sheet) get(below, accept string) {
	s.send("GET", below, "", "")
	s.Steps[len(s.Steps)-1].Accept = accept
}

// encoded is a query, whose values are written as they are meant.
func encoded(query string) string {
	values, err := url.ParseQuery(query)
	if err != nil {
		panic(err) // the table's own
	}
	return values.Encode()
}

// of are lists of the table's objects only, whatever else there is of the kind.
const of = "?labelSelector=" + "table%3Dyes"

// paths are all methods at all paths.
func paths(s *sheet) {
	below := []string{"", "/THERE", "/nothing", "/THERE/unknown"}
	for _, sub := range []string{"status", "scale", "finalize", "approval", "binding", "eviction"} {
		below = append(below, "/THERE/"+sub)
	}
	for _, sub := range s.Below {
		if sub == "status" || sub == "scale" {
			below = append(below, "/nothing/"+sub)
		}
	}
	for _, path := range below {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"} {
			if method != "GET" && strings.Contains(path, "nothing/") {
				continue
			}
			s.method(method, path)
		}
	}
	body := s.object(s.other())
	for _, path := range []string{strings.Replace(s.collection(), "/v", "/v9", 1), s.root() + "/namespaces/nowhere/" + s.Plural, s.root() + "/" + s.Plural} {
		for _, method := range []string{"GET", "POST"} {
			s.Steps = append(s.Steps, story.Step{Method: method, Path: path + of + "&dryRun=All", Type: story.JSON, Body: body})
		}
	}
}

// method is a request of which the method is all that there is to it.
func (s *sheet) method(method, path string) {
	switch method {
	case "POST", "PUT":
		s.send(method, path+"?dryRun=All", story.JSON, s.object(map[bool]string{true: s.other(), false: s.There}[method == "POST"]))
	case "PATCH":
		s.send(method, path+"?dryRun=All", story.MergePatch, `{"metadata":{"labels":{"a":"b"}}}`)
	case "DELETE":
		s.send(method, path+of+"&dryRun=All", "", "")
	default:
		s.send(method, path+of, "", "")
	}
}

// lists are parameters of lists and of watches that do not begin.
func lists(s *sheet) {
	for _, q := range []string{"limit=1", "limit=-1", "limit=x", "continue=x", "fieldSelector=metadata.name=" + s.There, "fieldSelector=metadata.name!=" + s.There, "fieldSelector=metadata.namespace=x", "fieldSelector=spec.nothing=h", "fieldSelector=x",
		"resourceVersion=0", "resourceVersion=x", "resourceVersionMatch=Exact", "resourceVersionMatch=odd&resourceVersion=1", "resourceVersion=0&resourceVersionMatch=Exact", "resourceVersion=0&resourceVersionMatch=NotOlderThan", "timeoutSeconds=x", "pretty=true", "sendInitialEvents=true", "watch=0", "unknown=1", "watch=true&resourceVersionMatch=Exact", "watch=true&resourceVersion=x", "watch=true&sendInitialEvents=true"} {
		s.send("GET", of+"&"+encoded(q), "", "")
	}
	for _, q := range []string{"labelSelector=a in (b", "labelSelector=a b", "labelSelector=A_=-", "labelSelector=table=no", "labelSelector=table in (yes,no),!a"} {
		s.send("GET", "?"+encoded(q), "", "")
	}
}

// gets are parameters of reads of one object.
func gets(s *sheet) {
	for _, q := range []string{"resourceVersion=0", "resourceVersion=x", "pretty=x", "unknown=1", "fieldSelector=metadata.name=x", "includeObject=None"} {
		s.send("GET", "/THERE?"+encoded(q), "", "")
	}
}

// The media types that clients ask for.
const (
	yamlType = "application/yaml"
	apply    = "application/apply-patch+yaml"
	strategy = "application/strategic-merge-patch+json"
	asTable  = "application/json;as=Table;g=meta.k8s.io;v=v1"
	asMeta   = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	asList   = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// media are what may be asked for.
func media(s *sheet) {
	for _, accept := range []string{yamlType, "text/plain", "application/cbor", "nonsense", "application/json;q=0.1,application/yaml", asMeta, asList, asTable, "application/json;as=Table;g=meta.k8s.io;v=v9", asTable + ",application/json", "application/json;stream=watch"} {
		s.get(of, accept)
		s.get("/THERE", accept)
	}
	s.get("/nothing", asTable)
	s.get("/nothing", yamlType)
	s.get(of+"&includeObject=None", asTable)
	s.get(of+"&includeObject=Object", asTable)
	s.get(of+"&includeObject=odd", asTable)
	for _, below := range s.Below {
		s.get("/THERE/"+below, asTable)
	}
	s.send("POST", "?dryRun=All", story.JSON, s.object(s.other()))
	s.Steps[len(s.Steps)-1].Accept = asTable
}

// writes are parameters of writes.
func writes(s *sheet) {
	odd := func(o map[string]any) { o["unknown"] = 1 }
	for _, q := range []string{"dryRun=all", "dryRun=All&dryRun=None", "fieldManager=" + strings.Repeat("m", 129), "fieldManager=a%0Ab", "fieldManager=me&fieldValidation=Strict", "fieldValidation=Warn", "fieldManager=me&fieldValidation=Ignore", "fieldValidation=strict", "force=true", "force=x", "timeout=x"} {
		query := "?dryRun=All&" + q
		s.send("POST", query, story.JSON, s.object(s.other(), odd))
		s.send("PUT", "/THERE"+query, story.JSON, s.object(s.There, odd))
		s.send("PATCH", "/THERE"+query, story.MergePatch, `{"unknown":1}`)
		s.send("PATCH", "/THERE"+query, apply, s.object(s.There, odd))
	}
}

// bodies are objects and media types of creations and updates.
func bodies(s *sheet) {
	good := s.object(s.There)
	for _, media := range []string{yamlType, "text/plain", "application/cbor", "nonsense", story.MergePatch, "application/x-www-form-urlencoded"} {
		s.send("POST", "?dryRun=All", media, s.object(s.other()))
		s.send("PUT", "/THERE?dryRun=All", media, good)
	}
	meta := func(field string, value any) string {
		return s.object(s.There, func(o map[string]any) { o["metadata"].(map[string]any)[field] = value })
	}
	top := func(field string, value any) string {
		return s.object(s.There, func(o map[string]any) { o[field] = value })
	}
	for _, body := range []string{"", "{}", "null", "[]", `"x"`, "{", good + "x", top("kind", "Other"), top("kind", "Binding"), top("kind", ""), top("apiVersion", "example.com/v1"), top("apiVersion", s.apiVersion()+"9"), top("apiVersion", ""), top("metadata", nil), top("metadata", 7),
		meta("name", "other-name"), meta("name", "A_b"), meta("name", ""), meta("generateName", "x-"), meta("uid", "other"), meta("resourceVersion", "1"), meta("resourceVersion", "x"), meta("namespace", "n"), meta("labels", map[string]any{"a b": "c"}), meta("labels", map[string]any{"a": "!"}), meta("annotations", map[string]any{"a": 1}), meta("finalizers", []any{"bad"}), meta("ownerReferences", []any{map[string]any{"kind": "A"}}), meta("unknown", 1), meta("generation", 7), strings.Replace(good, `"metadata"`, `"metadata":{},"metadata"`, 1)} {
		s.send("POST", "?dryRun=All", story.JSON, body)
		s.send("PUT", "/THERE?dryRun=All", story.JSON, body)
	}
	for _, below := range s.Below {
		for _, body := range []string{good, "{}", "null", top("status", map[string]any{}), top("status", 7), top("kind", "Other"), meta("labels", map[string]any{"a": "b"})} {
			s.send("PUT", "/THERE/"+below+"?dryRun=All", story.JSON, body)
		}
	}
}
