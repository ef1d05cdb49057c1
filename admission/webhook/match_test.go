package webhook

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
)

func rule(fields string) string { return `{"rules":[{` + fields + `}]}` }

func TestRulesAndVersions(t *testing.T) {
	const ops, group, version, tabs = `"operations":["CREATE"],`, `"apiGroups":["example.com"],`, `"apiVersions":["v1"],`, `"resources":["tabs"]`
	for name, c := range map[string]struct {
		hook   string
		change func(r *admissiontest.Attributes)
		want   string
	}{
		"all as asked":                {rule(ops + group + version + tabs), nil, "v1"},
		"wildcards":                   {rule(`"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]`), nil, "v1"},
		"another operation":           {rule(`"operations":["UPDATE","DELETE"],` + group + version + tabs), nil, ""},
		"another group":               {rule(ops + `"apiGroups":[""],` + version + tabs), nil, ""},
		"another resource":            {rule(ops + group + version + `"resources":["tab"]`), nil, ""},
		"a later rule":                {`{"rules":[{` + ops + `"apiGroups":[""],` + version + tabs + `},{` + ops + group + version + tabs + `}]}`, nil, "v1"},
		"an equivalent version":       {rule(ops + group + `"apiVersions":["v1beta1"],` + tabs), nil, "v1beta1"},
		"equivalents, the first":      {rule(ops + group + `"apiVersions":["v1beta1","v2"],` + tabs), nil, "v2"},
		"equivalents, the first rule": {`{"rules":[{` + ops + group + `"apiVersions":["v1beta1"],` + tabs + `},{` + ops + group + `"apiVersions":["v2"],` + tabs + `}]}`, nil, "v1beta1"},
		"the version asked for first": {`{"rules":[{` + ops + group + `"apiVersions":["v2"],` + tabs + `},{` + ops + group + version + tabs + `}]}`, nil, "v1"},
		"exact":                       {`{"matchPolicy":"Exact","rules":[{` + ops + group + `"apiVersions":["v2"],` + tabs + `}]}`, nil, ""},
		"an unknown version":          {rule(ops + group + `"apiVersions":["v3"],` + tabs), nil, ""},
		"a subresource is another":    {rule(ops + group + version + tabs), func(r *admissiontest.Attributes) { r.Subresource = "status" }, ""},
		"a subresource":               {rule(ops + group + version + `"resources":["tabs/status"]`), func(r *admissiontest.Attributes) { r.Subresource = "status" }, "v1"},
		"any subresource":             {rule(ops + group + version + `"resources":["tabs/*"]`), func(r *admissiontest.Attributes) { r.Subresource = "status" }, "v1"},
		"any subresource is none too": {rule(ops + group + version + `"resources":["tabs/*"]`), nil, "v1"},
		"a subresource of anything":   {rule(ops + group + version + `"resources":["*/status"]`), func(r *admissiontest.Attributes) { r.Subresource = "status" }, "v1"},
		"another subresource":         {rule(ops + group + version + `"resources":["*/scale"]`), func(r *admissiontest.Attributes) { r.Subresource = "status" }, ""},
		"everything":                  {rule(ops + group + version + `"resources":["*/*"]`), func(r *admissiontest.Attributes) { r.Subresource = "status" }, "v1"},
		"namespaced":                  {rule(ops + group + version + tabs + `,"scope":"Namespaced"`), nil, "v1"},
		"namespaced, and is not":      {rule(ops + group + version + tabs + `,"scope":"Namespaced"`), func(r *admissiontest.Attributes) { r.Namespace = "" }, ""},
		"cluster, and is not":         {rule(ops + group + version + tabs + `,"scope":"Cluster"`), nil, ""},
		"cluster":                     {rule(ops + group + version + tabs + `,"scope":"Cluster"`), func(r *admissiontest.Attributes) { r.Namespace = "" }, "v1"},
		"any scope":                   {rule(ops + group + version + tabs + `,"scope":"*"`), nil, "v1"},
		"no such scope":               {rule(ops + group + version + tabs + `,"scope":"x"`), nil, ""},
		"namespaces are of the cluster": {rule(ops + `"apiGroups":[""],` + version + `"resources":["namespaces"],"scope":"Cluster"`), func(r *admissiontest.Attributes) {
			r.Resource.Group, r.Resource.Resource = "", "namespaces"
		}, "v1"},
	} {
		w := newWorld(t)
		r := w.request()
		if c.change != nil {
			c.change(r)
		}
		if got, err := w.hooks(false, c.hook)[0].match(t.Context(), r, anything); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestSelectors(t *testing.T) {
	const team, label = `{"namespaceSelector":{"matchLabels":{"team":"x"}}}`, `{"objectSelector":{"matchLabels":{"a":"b"}}}`
	for name, c := range map[string]struct {
		hook   string
		change func(w *world, r *admissiontest.Attributes)
		want   bool
	}{
		"namespace":           {team, nil, true},
		"another namespace":   {team, func(w *world, r *admissiontest.Attributes) { w.spaces["ns"] = nil }, false},
		"no namespace at all": {team, func(w *world, r *admissiontest.Attributes) { r.Namespace = "" }, true},
		"object":              {label, nil, true},
		"another object":      {label, func(w *world, r *admissiontest.Attributes) { w.After = tree(t, `{"metadata":{"labels":{"a":"c"}}}`) }, false},
		"the old object":      {label, func(w *world, r *admissiontest.Attributes) { w.Before, w.After = w.After, tree(t, `{"metadata":{}}`) }, true},
		"a deleted object":    {label, func(w *world, r *admissiontest.Attributes) { w.Before, w.After = w.After, nil }, true},
		"a namespace's own new labels": {team, func(w *world, r *admissiontest.Attributes) {
			w.After = tree(t, `{"metadata":{"labels":{"team":"x"}}}`)
			namespaced(w, r)
		}, true},
		"a namespace's own old labels":   {team, func(w *world, r *admissiontest.Attributes) { w.After = tree(t, `{"metadata":{}}`); namespaced(w, r) }, false},
		"a namespace without a name yet": {team, func(w *world, r *admissiontest.Attributes) { namespaced(w, r); r.Namespace, r.Name = "", "" }, false},
		"a deleted namespace": {team, func(w *world, r *admissiontest.Attributes) {
			namespaced(w, r)
			r.Operation, r.Namespace = admission.Delete, "ns"
		}, true},
		"a namespace's status": {team, func(w *world, r *admissiontest.Attributes) {
			namespaced(w, r)
			r.Subresource, r.Namespace = "status", "ns"
		}, true},
		"both":        {strings.TrimSuffix(team, "}") + "," + label[1:], nil, true},
		"one of both": {strings.TrimSuffix(team, "}") + "," + label[1:], func(w *world, r *admissiontest.Attributes) { w.After = tree(t, `{"metadata":{}}`) }, false},
	} {
		w := newWorld(t)
		r := w.request()
		if c.change != nil {
			c.change(w, r)
		}
		hook := strings.TrimSuffix(c.hook, "}") + `,"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}]}`
		if got, err := w.hooks(false, hook)[0].match(t.Context(), r, anything); err != nil || (got != "") != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	w := newWorld(t)
	for name, is := range map[string]func(error) bool{"none": apierrors.IsNotFound, "broken": apierrors.IsInternalError} {
		r := w.request()
		r.Namespace = name
		if _, err := w.hooks(false, team)[0].match(t.Context(), r, anything); !is(err) {
			t.Errorf("namespace %s: %v", name, err)
		}
		if got, err := w.hooks(false, rule(`"operations":["DELETE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]`))[0].match(t.Context(), r, anything); got != "" || err != nil {
			t.Errorf("what the rules do not match needs no namespace: %q, %v", got, err)
		}
	}
	for _, bad := range []string{`{"objectSelector":{"matchExpressions":[{"key":"a","operator":"x"}]}}`, `{"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"x"}]}}`} {
		if _, err := w.hooks(false, bad)[0].match(t.Context(), w.request(), anything); !apierrors.IsInternalError(err) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// namespaced makes the write one of a namespace.
func namespaced(w *world, r *admissiontest.Attributes) {
	r.Resource.Group, r.Resource.Resource, r.Kind.Group = "", "namespaces", ""
	r.Namespace, r.Name = "other", "other"
}

func TestConditions(t *testing.T) {
	condition := func(policy, e string) string {
		return `{"failurePolicy":"` + policy + `","matchConditions":[{"name":"x","expression":` + quoted(e) + `}]}`
	}
	for e, want := range map[string]string{
		`object.host == 'h' && oldObject == null`:                               "v1",
		`object.host == 'i'`:                                                    "",
		`request.userInfo.username == 'alice' && request.operation == 'CREATE'`: "v1",
		`object.metadata.managedFields[0].manager == 'm'`:                       "v1",
		`authorizer.group('').resource('pods').check('get').allowed()`:          "v1",
	} {
		w := newWorld(t)
		w.After["metadata"].(map[string]any)["managedFields"] = tree(t, `{"metadata":{"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{}}]}}`)["metadata"].(map[string]any)["managedFields"]
		if got, err := w.hooks(false, condition("Fail", e))[0].match(t.Context(), w.request(), anything); err != nil || got != want {
			t.Errorf("%s: %q, %v", e, got, err)
		}
	}
	w := newWorld(t)
	w.After = nil
	w.Before = tree(t, `{"kind":"Tab","metadata":{"name":"one"},"host":"old"}`)
	if got, err := w.hooks(true, condition("Fail", `object == null && oldObject.host == 'old' && oldObject.apiVersion == 'example.com/v1'`))[0].match(t.Context(), w.request(), anything); got != "v1" || err != nil {
		t.Errorf("a deletion: %q, %v", got, err)
	}
	for _, e := range []string{`object.nothing == 1`, `object.(`} {
		w := newWorld(t)
		if got, err := w.hooks(false, condition("Ignore", e))[0].match(t.Context(), w.request(), anything); got != "" || err != nil {
			t.Errorf("%s ignored: %q, %v", e, got, err)
		}
		if _, err := w.hooks(false, condition("Fail", e))[0].match(t.Context(), w.request(), anything); !apierrors.IsForbidden(err) || !strings.HasPrefix(err.Error(), `tabs.example.com "one" is forbidden: `) {
			t.Errorf("%s: %v", e, err)
		}
	}
	r := newWorld(t).request()
	r.Resource.Version = "broken"
	if _, err := newWorld(t).hooks(false, `{"matchConditions":[{"name":"x","expression":"true"}],"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]}`)[0].match(t.Context(), r, anything); err == nil {
		t.Error("what cannot be converted is matched")
	}
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }
