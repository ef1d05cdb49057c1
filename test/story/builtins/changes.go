package builtins

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// patches are patches of each type, right and wrong.
func patches(s *sheet) {
	full := s.object(s.There)
	for _, media := range []string{story.MergePatch, story.JSONPatch, strategy, apply, story.JSON, "text/plain", "", "application/apply-patch+cbor"} {
		for _, body := range []string{``, `{}`, `[]`, `null`, `{"metadata":{"labels":{"a":"b"}}}`, `[{"op":"add","path":"/metadata/labels/a","value":"b"}]`, full, `{"metadata":`} {
			s.send("PATCH", "/THERE?dryRun=All&fieldManager=me", media, body)
		}
	}
	s.send("PATCH", "/nothing?dryRun=All&fieldManager=me", apply, s.object("nothing"))
	s.send("PATCH", "/THERE?dryRun=All&fieldManager=me&force=true", apply, s.object(s.There, func(o map[string]any) { o["metadata"].(map[string]any)["labels"] = map[string]any{"table": "no"} }))
	s.send("PATCH", "/THERE?dryRun=All&fieldManager=you", apply, s.object(s.There, func(o map[string]any) { o["metadata"].(map[string]any)["labels"] = map[string]any{"table": "no"} }))
	for _, body := range []string{`{"metadata":null}`, `{"metadata":{"name":"other"}}`, `{"metadata":{"uid":"x"}}`, `{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"resourceVersion":"x"}}`, `{"metadata":{"labels":{"a":1}}}`, `{"metadata":{"labels":null}}`, `{"metadata":{"finalizers":["bad"]}}`, `{"metadata":{"generation":9}}`, `{"kind":"Other"}`, `{"apiVersion":"x/v1"}`, `{"unknown":1}`, `{"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"}}`, `{"metadata":{"annotations":{"a b":"c"}}}`} {
		s.send("PATCH", "/THERE?dryRun=All", story.MergePatch, body)
		s.send("PATCH", "/THERE?dryRun=All", strategy, body)
		for _, below := range s.Below {
			s.send("PATCH", "/THERE/"+below+"?dryRun=All", story.MergePatch, body)
		}
	}
	for _, body := range []string{`{"metadata":{"labels":{"$patch":"replace","a":"b"}}}`, `{"metadata":{"finalizers":["a.b/c"],"$setElementOrder/finalizers":["a.b/c"]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a.b/c"]}}`, `{"metadata":{"labels":{"$patch":"odd"}}}`, `{"$patch":"delete"}`, `{"metadata":{"$retainKeys":["name"],"name":"x"}}`} {
		s.send("PATCH", "/THERE?dryRun=All", strategy, body)
	}
	for _, body := range []string{`[{"op":"remove","path":"/metadata/labels"}]`, `[{"op":"remove","path":"/nothing"}]`, `[{"op":"test","path":"/metadata/labels/table","value":"x"}]`, `[{"op":"copy","from":"/metadata/name","path":"/metadata/labels/x"}]`, `[{"op":"replace","path":"/metadata/name","value":"x"}]`, `[{"op":"replace","path":"","value":{}}]`, `[{"op":"remove","path":""}]`, `[{"op":"add","path":"/a~1b","value":1}]`, `[{"op":"odd","path":"/metadata"}]`, `[{"op":"add"}]`, `[7]`} {
		s.send("PATCH", "/THERE?dryRun=All", story.JSONPatch, body)
	}
}

// mostFields bounds the fields of an object that are set wrongly.
const mostFields = 18

// fields are the object's own fields changed, taken away, and of another type.
func fields(s *sheet) {
	queue := []string{}
	values := map[string]any{"": s.Object}
	for at := []string{""}; len(at) > 0 && len(queue) < mostFields; at = at[1:] {
		for _, below := range children(values[at[0]]) {
			path := at[0] + "/" + below
			if path == "/apiVersion" || path == "/kind" {
				continue
			}
			values[path] = child(values[at[0]], below)
			queue, at = append(queue, path), append(at, path)
		}
	}
	for _, path := range queue[:min(len(queue), mostFields)] {
		for _, v := range []any{otherType(values[path]), otherValue(values[path])} {
			s.send("PATCH", "/THERE?dryRun=All", story.JSONPatch, `[{"op":"replace","path":"`+path+`","value":`+text(v)+`}]`)
		}
		s.send("PATCH", "/THERE?dryRun=All", story.JSONPatch, `[{"op":"remove","path":"`+path+`"}]`)
		s.send("POST", "?dryRun=All&fieldValidation=Strict", story.JSON, s.object(s.other(), func(o map[string]any) { put(o, path, otherType(values[path])) }))
		if _, object := values[path].(map[string]any); object {
			s.send("POST", "?dryRun=All&fieldValidation=Strict", story.JSON, s.object(s.other(), func(o map[string]any) { put(o, path+"/unknown", "x") }))
		}
	}
}

func children(v any) []string {
	switch v := v.(type) {
	case map[string]any:
		var names []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			names = append(names, strings.ReplaceAll(name, "/", "~1"))
		}
		return names
	case []any:
		if len(v) > 0 {
			return []string{"0"}
		}
	}
	return nil
}

func child(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[strings.ReplaceAll(name, "~1", "/")]
	case []any:
		i, err := strconv.Atoi(name)
		if err == nil && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// put sets what is at a path, where everything above it is there.
func put(o any, path string, value any) {
	parts := strings.Split(path[1:], "/")
	for _, name := range parts[:len(parts)-1] {
		o = child(o, name)
	}
	last := strings.ReplaceAll(parts[len(parts)-1], "~1", "/")
	switch o := o.(type) {
	case map[string]any:
		o[last] = value
	case []any:
		o[0] = value
	}
}

// otherType is a value of another type than v, and otherValue another of its
// type that few fields allow.
func otherType(v any) any {
	switch v.(type) {
	case string:
		return 7
	case map[string]any:
		return []any{}
	case []any:
		return map[string]any{}
	}
	return "x"
}

func otherValue(v any) any {
	switch v := v.(type) {
	case string:
		return "Odd one"
	case bool:
		return !v
	case map[string]any:
		return map[string]any{}
	case []any:
		return []any{}
	}
	return -1
}

// deletions are deletions with all kinds of options.
func deletions(s *sheet) {
	for _, q := range []string{"propagationPolicy=Foreground", "propagationPolicy=Orphan", "propagationPolicy=odd", "gracePeriodSeconds=0", "gracePeriodSeconds=-1", "gracePeriodSeconds=x", "orphanDependents=true", "propagationPolicy=Orphan&orphanDependents=true", "unknown=1"} {
		s.send("DELETE", "/THERE?dryRun=All&"+q, "", "")
	}
	// A body counts instead of the query: these keep the object by themselves.
	for _, body := range []string{`{`, `[]`, `7`, `{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`, `{"kind":"DeleteOptions","apiVersion":"` + s.apiVersion() + `","dryRun":["All"]}`, `{"kind":"Other","apiVersion":"v1"}`, `{"dryRun":["odd"]}`, `{"dryRun":"All"}`, `{"dryRun":["All"],"preconditions":{"uid":"x"}}`, `{"dryRun":["All"],"preconditions":{"resourceVersion":"1"}}`, `{"dryRun":["All"],"propagationPolicy":"Orphan","orphanDependents":true}`, `{"dryRun":["All"],"unknown":1}`} {
		s.send("DELETE", "/THERE?dryRun=All", story.JSON, body)
		s.send("DELETE", "/nothing", story.JSON, body)
	}
	s.send("DELETE", "/nothing", story.JSON, `null`)
	s.send("DELETE", "/THERE?dryRun=All", "text/plain", `{"dryRun":["All"]}`)
	for _, q := range []string{"limit=1", "fieldSelector=metadata.name=x", "fieldSelector=x", "propagationPolicy=odd", "continue=x", "resourceVersion=x"} {
		s.send("DELETE", of+"&dryRun=All&"+encoded(q), "", "")
	}
}
