// Package requests owns a table of the requests that a client can make of a
// custom resource, and of the mistakes it can make: verbs, paths, parameters,
// media types, patches. None of them keeps anything. kube-apiserver's answers are
// in test/recorded; test/cmd/record writes them.
//
// It must not know what the answer to a request is.
package requests

import (
	"net/url"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "requests"

// The media types that clients ask for.
const (
	yaml     = "application/yaml"
	apply    = "application/apply-patch+yaml"
	table    = "application/json;as=Table;g=meta.k8s.io;v=v1"
	metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
)

const definition = `[{"name":"v1","served":true,"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
 "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"replicas":{"type":"integer","minimum":0},"host":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}}},"status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}}]`

// Stories are all requests, by what they are about.
func Stories() []story.Story {
	var all []story.Story
	for _, group := range []struct {
		name string
		add  func(*sheet)
	}{{"requests paths and verbs", verbs}, {"requests reads", reads}, {"requests writes", writes}, {"requests bodies", bodies}, {"requests patches", patches}, {"requests deletions", deletions}, {"requests scales", scales}, {"requests accepted media types", accepts}} {
		s := &sheet{story.Story{Name: group.name}}
		s.Definition = s.Define(definition)
		s.send("POST", "", story.JSON, s.object("there", `,"spec":{"replicas":1,"host":"h","tags":["a","b"]}`))
		group.add(s)
		all = append(all, s.Story)
	}
	return all
}

// sheet is a story that is being written.
type sheet struct{ story.Story }

// send sends a request to the collection, or to what is below it.
func (s *sheet) send(method, below, media, body string) {
	s.Steps = append(s.Steps, story.Step{Method: method, Path: s.Things("v1") + below, Type: media, Body: body})
}

// accept makes the last request ask for a media type.
func (s *sheet) accept(media string) { s.Steps[len(s.Steps)-1].Accept = media }

func (s *sheet) object(name, rest string) string {
	return `{"apiVersion":"` + s.Group() + `/v1","kind":"Thing","metadata":{"name":"` + name + `"}` + rest + `}`
}

// verbs are all methods at all paths.
func verbs(s *sheet) {
	for _, path := range []string{"", "/", "/there", "/there/", "/nothing", "/there/status", "/there/scale", "/nothing/status", "/nothing/scale", "/there/unknown", "/there/status/more", "/there%2Fstatus", "/A_b", "/.."} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "BREW"} {
			if method == "DELETE" && (path == "" || path == "/") || path == "/.." && method != "GET" {
				continue // that is about much else
			}
			switch method {
			case "POST", "PUT":
				s.send(method, path+"?dryRun=All", story.JSON, s.object("x", ""))
			case "PATCH":
				s.send(method, path+"?dryRun=All", story.MergePatch, `{"metadata":{"labels":{"a":"b"}}}`)
			case "DELETE":
				s.send(method, path+"?dryRun=All", "", "")
			default:
				s.send(method, path, "", "")
			}
		}
	}
	for _, path := range []string{"/apis/" + s.Group() + "/v9/things", "/apis/" + s.Group() + "/v1/others", "/apis/" + s.Group() + "/v1/namespaces/default/things", "/apis/unknown.example.com/v1/things"} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			s.Steps = append(s.Steps, story.Step{Method: method, Path: path, Type: story.JSON, Body: s.object("x", "")})
		}
	}
}

// reads are parameters and media types of reads.
func reads(s *sheet) {
	for _, q := range []string{"limit=1", "limit=0", "limit=-1", "limit=x", "limit=1&limit=2", "continue=x", "continue=", "labelSelector=a", "labelSelector=a=b", "labelSelector=a in (b", "labelSelector=!a", "labelSelector=a b", "labelSelector=A_=-", "fieldSelector=metadata.name=there", "fieldSelector=metadata.name!=there", "fieldSelector=metadata.namespace=x", "fieldSelector=spec.host=h", "fieldSelector=x",
		"resourceVersion=0", "resourceVersion=x", "resourceVersion=-1", "resourceVersion=", "resourceVersionMatch=Exact", "resourceVersionMatch=NotOlderThan", "resourceVersionMatch=odd&resourceVersion=1", "resourceVersion=0&resourceVersionMatch=Exact", "resourceVersion=0&resourceVersionMatch=NotOlderThan", "resourceVersion=0&continue=x", "timeoutSeconds=x", "timeoutSeconds=5", "pretty=x", "pretty=false", "sendInitialEvents=true", "sendInitialEvents=x", "watch=false", "watch=0", "allowWatchBookmarks=x", "unknown=1", "includeObject=None", "watch=true&resourceVersionMatch=Exact&timeoutSeconds=1", "watch=true&sendInitialEvents=true&timeoutSeconds=1", "watch=true&resourceVersion=x", "watch=true&limit=x", "watch=true&labelSelector==="} {
		values, err := url.ParseQuery(q)
		if err != nil {
			panic(err) // the table's own
		}
		s.send("GET", "?"+values.Encode(), "", "")
		if !strings.Contains(q, "watch") {
			s.send("GET", "/there?"+values.Encode(), "", "")
		}
	}
	for _, media := range []string{"application/json", yaml, "*/*", "text/plain", "application/*", "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json", "application/json;q=0.1,application/yaml", "application/cbor", "", "nonsense", metadata, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", table,
		"application/json;as=Table;g=meta.k8s.io;v=v1beta1", "application/json;as=Table;g=meta.k8s.io;v=v9", "application/json;as=Odd;g=meta.k8s.io;v=v1", "application/json;as=Table;g=meta.k8s.io;v=v9,application/json", "application/json;charset=utf-8", "application/json;stream=watch"} {
		for _, path := range []string{"", "/there", "/nothing", "/there/scale"} {
			s.send("GET", path, "", "")
			s.accept(media)
		}
	}
}

// writes are parameters of writes.
func writes(s *sheet) {
	for _, q := range []string{"dryRun=All", "dryRun=all", "dryRun=All&dryRun=All", "dryRun=All&dryRun=None", "dryRun=All&fieldManager=me", "dryRun=All&fieldManager=" + strings.Repeat("m", 129), "dryRun=All&fieldManager=a%0Ab", "dryRun=All&fieldValidation=Strict", "dryRun=All&fieldValidation=Warn", "dryRun=All&fieldValidation=Ignore", "dryRun=All&fieldValidation=strict", "dryRun=All&fieldValidation=", "dryRun=All&force=true", "dryRun=All&force=x", "dryRun=All&pretty=x", "dryRun=All&unknown=1", "dryRun=All&timeout=x", "dryRun=All&timeout=5s", "dryRun=All&resourceVersion=7", "dryRun=All&orphanDependents=x"} {
		odd := `,"spec":{"replicas":2,"unknown":1}`
		s.send("POST", "?"+q, story.JSON, s.object("x", odd))
		s.send("PUT", "/there?"+q, story.JSON, s.object("there", odd))
		s.send("PATCH", "/there?"+q, story.MergePatch, `{"spec":{"replicas":2,"unknown":1}}`)
		s.send("PATCH", "/there?"+q, apply, s.object("there", odd))
	}
}

// bodies are objects and media types of creations and updates.
func bodies(s *sheet) {
	good := s.object("there", "")
	for _, media := range []string{story.JSON, yaml, "application/json; charset=utf-8", "text/plain", "application/cbor", "nonsense", story.MergePatch, "application/x-www-form-urlencoded"} {
		s.send("POST", "?dryRun=All", media, s.object("x", ""))
		s.send("PUT", "/there?dryRun=All", media, good)
	}
	for _, body := range []string{"", "{}", "null", "[]", `"x"`, "7", "{", `{"a":1}{"b":2}`, good + " ", good + "x", strings.Replace(good, "Thing", "Other", 1), strings.Replace(good, "/v1", "/v2", 1), strings.Replace(good, s.Group(), "other.example.com", 1), strings.Replace(good, `"kind":"Thing",`, "", 1), strings.Replace(good, `"apiVersion":"`+s.Group()+`/v1",`, "", 1), strings.Replace(good, "there", "other", 1), strings.Replace(good, `"name":"there"`, "", 1), strings.Replace(good, `"name":"there"`, `"name":"there","uid":"other"`, 1),
		strings.Replace(good, `"name":"there"`, `"name":"there","resourceVersion":"1"`, 1), strings.Replace(good, `"name":"there"`, `"name":"there","resourceVersion":"x"`, 1), strings.Replace(good, `"name":"there"`, `"name":"there","namespace":"n"`, 1), strings.Replace(good, `"name":"there"`, `"name":"there","deletionTimestamp":"2020-01-01T00:00:00Z"`, 1), s.object("there", `,"spec":7`), s.object("there", `,"spec":{"replicas":"x"}`), s.object("there", `,"status":{"replicas":"x"}`), s.object("there", `,"spec":{"replicas":1,"replicas":2}`), s.object("there", `,"spec":{"replicas":-1},"spec":{}`), s.object("there", `,"spec":{"host":"\ud800"}`)} {
		s.send("POST", "?dryRun=All", story.JSON, body)
		s.send("PUT", "/there?dryRun=All", story.JSON, body)
		s.send("PUT", "/there/status?dryRun=All", story.JSON, body)
		s.send("PUT", "/nothing?dryRun=All", story.JSON, body)
	}
}

// patches are patches of each type, right and wrong.
func patches(s *sheet) {
	for _, media := range []string{story.MergePatch, story.JSONPatch, apply, "application/strategic-merge-patch+json", story.JSON, "text/plain", "", "application/apply-patch+cbor"} {
		for _, body := range []string{``, `{}`, `[]`, `null`, `{"spec":{"replicas":2}}`, `[{"op":"replace","path":"/spec/replicas","value":2}]`, s.object("there", `,"spec":{"replicas":2}`), `{"spec":`} {
			for _, below := range []string{"/there", "/nothing", "/there/status"} {
				s.send("PATCH", below+"?dryRun=All&fieldManager=me", media, body)
			}
		}
	}
	for _, body := range []string{`{"metadata":null}`, `{"metadata":{"name":"other"}}`, `{"metadata":{"uid":"x"}}`, `{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"resourceVersion":"x"}}`, `{"metadata":{"labels":{"a":1}}}`, `{"metadata":{"finalizers":["bad"]}}`, `{"metadata":{"generation":9}}`, `{"kind":"Other"}`, `{"apiVersion":"x/v1"}`, `{"spec":null}`, `{"spec":{"replicas":null}}`, `{"spec":{"replicas":-1}}`, `{"spec":{"replicas":"x"}}`, `{"spec":{"tags":[1]}}`, `{"spec":[]}`, `{"status":{"replicas":1}}`, `{"unknown":1}`, `{"spec":{"host":"a","host":"b"}}`, `{"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"}}`, `{"metadata":{"annotations":{"a b":"c"}}}`} {
		s.send("PATCH", "/there?dryRun=All", story.MergePatch, body)
		s.send("PATCH", "/there/status?dryRun=All", story.MergePatch, body)
		s.send("PATCH", "/there/scale?dryRun=All", story.MergePatch, body)
	}
	for _, body := range []string{`[{"op":"add","path":"/spec/tags/-","value":"c"}]`, `[{"op":"add","path":"/spec/tags/9","value":"c"}]`, `[{"op":"remove","path":"/spec/nothing"}]`, `[{"op":"remove","path":"/spec/tags/0"}]`, `[{"op":"test","path":"/spec/host","value":"h"}]`, `[{"op":"test","path":"/spec/host","value":"x"}]`, `[{"op":"move","from":"/spec/host","path":"/spec/other"}]`, `[{"op":"copy","from":"/spec/host","path":"/metadata/labels"}]`, `[{"op":"replace","path":"/metadata/name","value":"x"}]`, `[{"op":"replace","path":"","value":{}}]`, `[{"op":"replace","path":"","value":null}]`, `[{"op":"remove","path":""}]`, `[{"op":"add","path":"spec","value":1}]`, `[{"op":"add","path":"/a~1b","value":1}]`, `[{"op":"odd","path":"/spec"}]`, `[{"path":"/spec"}]`, `[{"op":"add"}]`, `[{"op":"add","path":"/spec/x"}]`, `[7]`, `{"op":"add"}`, `[{"op":"add","path":"/spec/host","value":"z","extra":1}]`} {
		s.send("PATCH", "/there?dryRun=All", story.JSONPatch, body)
	}
}

// deletions are deletions with all kinds of options.
func deletions(s *sheet) {
	for _, q := range []string{"", "&propagationPolicy=Foreground", "&propagationPolicy=Background", "&propagationPolicy=Orphan", "&propagationPolicy=odd", "&gracePeriodSeconds=0", "&gracePeriodSeconds=-1", "&gracePeriodSeconds=x", "&orphanDependents=true", "&orphanDependents=x", "&propagationPolicy=Orphan&orphanDependents=true", "&unknown=1"} {
		s.send("DELETE", "/there?dryRun=All"+q, "", "")
		s.send("DELETE", "/nothing?dryRun=All"+q, "", "")
	}
	for _, body := range []string{`{}`, `null`, `{`, `[]`, `7`, `{"kind":"DeleteOptions","apiVersion":"v1"}`, `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1"}`, `{"kind":"DeleteOptions","apiVersion":"` + s.Group() + `/v1"}`, `{"kind":"Other","apiVersion":"v1"}`, `{"dryRun":["All"]}`, `{"dryRun":["odd"]}`, `{"dryRun":"All"}`, `{"dryRun":["All"],"preconditions":{"uid":"x"}}`, `{"dryRun":["All"],"preconditions":{"resourceVersion":"1"}}`, `{"dryRun":["All"],"propagationPolicy":"odd"}`, `{"dryRun":["All"],"propagationPolicy":"Orphan","orphanDependents":true}`, `{"dryRun":["All"],"gracePeriodSeconds":-5}`, `{"dryRun":["All"],"unknown":1}`} {
		query := "?dryRun=All"
		if strings.Contains(body, "dryRun") {
			query = ""
		}
		s.send("DELETE", "/nothing"+query, story.JSON, body)
		s.send("DELETE", "/there?dryRun=All", story.JSON, body)
		s.send("DELETE", "/there?dryRun=All", "text/plain", body)
	}
	for _, q := range []string{"", "&labelSelector=a", "&labelSelector===", "&limit=1", "&fieldSelector=metadata.name=x", "&fieldSelector=x", "&propagationPolicy=odd", "&continue=x", "&resourceVersion=x"} {
		s.send("DELETE", "?dryRun=All"+q, "", "")
	}
}

// scales are updates and patches of a scale.
func scales(s *sheet) {
	const head = `"kind":"Scale","apiVersion":"autoscaling/v1"`
	scale := func(meta, rest string) string { return `{` + head + `,"metadata":{` + meta + `}` + rest + `}` }
	for _, body := range []string{scale(`"name":"there"`, `,"spec":{"replicas":2}`), scale(`"name":"there"`, ``), scale(`"name":"there"`, `,"spec":null`), scale(`"name":"there","odd":1`, `,"spec":{"replicas":2,"replica":3},"status":{"more":1}`), scale(`"name":"there"`, `,"spec":{"replicas":2,"replicas":3}`), scale(`"name":"there"`, `,"spec":{"replicas":"2"}`), scale(`"name":"there"`, `,"spec":[]`), scale(`"name":"there"`, `,"spec":{"replicas":3000000000}`), scale(`"name":"there"`, `,"spec":{"replicas":1.5}`), scale(`"name":"there","labels":{"a":1}`, ``), scale(``, ``), scale(`"name":"other"`, ``), scale(`"name":"there","namespace":"n"`, ``), scale(`"name":"there","resourceVersion":"1"`, ``), scale(`"name":"there"`, `,"unknown":{}`),
		`{"metadata":{"name":"there"},"spec":{"replicas":2}}`, `{"kind":"Scale","metadata":{"name":"there"}}`, `{}`, `null`, `[]`, `7`, `{`, ``} {
		for _, level := range []string{"", "Strict", "Ignore"} {
			s.send("PUT", "/there/scale?dryRun=All&fieldValidation="+level, story.JSON, body)
		}
	}
	s.send("PUT", "/nothing/scale?dryRun=All", story.JSON, scale(`"name":"nothing"`, `,"odd":1`))
	s.send("PUT", "/there/scale?dryRun=All", yaml, "kind: Scale\napiVersion: autoscaling/v1\nmetadata: {name: there}\nspec: {replicas: 2, odd: 1}\nspec: {replicas: 3}\n")
	for _, level := range []string{"", "Strict", "Ignore"} {
		for _, body := range []string{`{"spec":{"replicas":2,"odd":1}}`, `{"spec":{"replicas":2,"replicas":3}}`, `{"odd":1,"odd":2}`, `{"spec":{"replicas":"x"},"odd":1}`, `{"metadata":{"annotations":{"a":"b"},"odd":1}}`} {
			s.send("PATCH", "/there/scale?dryRun=All&fieldValidation="+level, story.MergePatch, body)
		}
		for _, body := range []string{`[{"op":"replace","path":"/spec/replicas","value":2,"extra":1}]`, `[{"op":"add","path":"/spec/odd","value":2}]`, `[{"op":"replace","path":"/spec","value":null}]`, `[{"op":"remove","path":"/spec/replicas"}]`, `[{"op":"replace","path":"","value":{}}]`} {
			s.send("PATCH", "/there/scale?dryRun=All&fieldValidation="+level, story.JSONPatch, body)
		}
	}
}

// accepts are what clients say that they accept, of a custom resource and of a
// kind of Kubernetes' own, where what is said about an object that there is not
// shows the media type.
func accepts(s *sheet) {
	const many = "text/a,text/b,text/c,text/d,text/e,text/f,text/g,text/h,text/i,text/j,text/k,text/l,text/m;q=0.3"
	for _, media := range []string{"application/json;q=0", "application/yaml;q=0", "application/json;q=0,application/yaml", "application/yaml;q=0,application/json", "*/*;q=0", "*/*;q=0.5", "*/*;q=0.5,application/yaml;q=0.1", "application/yaml;q=0.1,*/*;q=0.5", "application/yaml;q=0.1,*/*", "*/*;q=0.8,application/yaml;q=0.7", "*/*,application/yaml", "application/*", "application/*;q=0.5,application/yaml;q=0.1", "application/*,application/yaml", "application/yaml;q=0.2,application/*", "text/html,application/*", "text/html,*/*;q=0.1", "APPLICATION/JSON", "Application/Yaml,application/json", "application/yaml;q=x", "application/json;q=0.5,application/yaml;q=x", "application/yaml;q=NaN,application/json;q=0.5", "application/yaml ;q=0.9", "application/yaml; q=0.9 , application/json;q=0.95", "application/json; q=0.9 , application/yaml; q=0.95",
		"application/json;sv=v1", "application/json;sv=x", "application/json;sv=x,application/yaml", "application/json;export=1", "application/yaml;stream=watch", "application/yaml;stream=watch,application/json", "application/json;stream=odd", "application", "*", "*/json", "*/yaml,application/json;q=0.1", "application/yaml/x", `application/json;as="Table";g=meta.k8s.io;v=v1`, "application/json;as=Table", "application/json;v=v1", "application/json;as=;g=;v=", "application/yaml;pretty=1", "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8", many + ",application/yaml;q=0.1,*/*", many + ",application/yaml", "*/*;q=0.1," + many + ",application/yaml;q=0.05,application/json;q=0.2"} {
		s.send("GET", "/there", "", "")
		s.accept(media)
		s.Steps = append(s.Steps, story.Step{Method: "GET", Path: "/api/v1/namespaces/default/configmaps/nothing", Accept: media})
	}
}
