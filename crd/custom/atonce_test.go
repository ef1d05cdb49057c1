package custom

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd"
)

// atOnce compares a change, or a creation where old is nil, that is accepted at
// once with what the library's strategy makes of it. What is not accepted must
// come out of the library as if nobody had tried.
func atOnce(t *testing.T, v *crd.Version, subresource, namespace string, obj, old map[string]any) (accepted bool) {
	t.Helper()
	ctx := genericapirequest.WithNamespace(t.Context(), namespace)
	s := v.Strategy.(*strategy)
	whole, ofStatus := partsOf(t, v).library()
	copied := func(m map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(m)}
	}
	got, want := copied(obj), copied(obj)
	var gotErr, wantErr error
	if old == nil {
		if accepted = s.Accept(ctx, namespace, got, nil); !accepted {
			gotErr = rest.BeforeCreate(whole, ctx, got)
		}
		wantErr = rest.BeforeCreate(whole, ctx, want)
	} else {
		update := libraryUpdate(whole)
		if subresource != "" {
			s, update = v.Subresources[subresource].Update.(*strategy), ofStatus
		}
		before := copied(old)
		if accepted = s.Accept(ctx, namespace, got, before); !accepted {
			gotErr = rest.BeforeUpdate(update, ctx, got, before)
		}
		if !reflect.DeepEqual(before.Object, old) {
			t.Errorf("the state before was changed: %s", text(before.Object))
		}
		wantErr = rest.BeforeUpdate(update, ctx, want, copied(old))
	}
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) && (gotErr == nil) != (wantErr == nil) || accepted && wantErr != nil {
		t.Errorf("%s after %s: accepted %t, %v, want %v", text(obj), text(old), accepted, gotErr, wantErr)
	}
	if wantErr == nil && !reflect.DeepEqual(got.Object, want.Object) {
		t.Errorf("%s after %s, accepted %t:\ngot  %s\nwant %s", text(obj), text(old), accepted, text(got.Object), text(want.Object))
	}
	return accepted
}

// openObject is an object without what follows its metadata.
const openObject = `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"e","namespace":"n","resourceVersion":"1","uid":"u","creationTimestamp":"2026-01-01T00:00:00Z","generation":3}`

// definedThrice is a definition: plain, with a status, and without namespaces.
func definedThrice(t *testing.T) (plain, withStatus, cluster *crd.Version) {
	t.Helper()
	c := definition(t, "Foo", one(`{type: object, properties: {a: {type: integer}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`))
	plain = compile(t, c).Versions[0]
	c.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	withStatus = compile(t, c).Versions[0]
	c.Spec.Scope = apiextensionsv1.ClusterScoped
	cluster = compile(t, c).Versions[0]
	return plain, withStatus, cluster
}

func TestAtOnceIsWhatTheLibraryDoes_CRD05(t *testing.T) {
	plain, withStatus, cluster := definedThrice(t)
	const now, later = `"2026-01-01T00:00:00Z"`, `"2026-02-01T00:00:00Z"`
	for _, r := range []struct {
		was, is    []string // replacements of openObject, of the state before and the new one
		wasF, isF  string   // other fields
		create     bool     // accepted to be created, without the state before
		update     bool
		generation int64 // after an update
	}{
		{nil, nil, ``, ``, true, true, 3},
		{nil, nil, `,"a":1`, `,"a":1`, true, true, 3},
		{nil, nil, `,"a":1`, `,"a":2`, true, true, 4},
		{nil, nil, `,"a":1`, ``, true, true, 4},
		{nil, nil, ``, `,"a":1`, true, true, 4},
		{nil, nil, `,"a":1`, `,"a":"x"`, false, false, 0},
		{nil, nil, `,"status":{"s":1}`, `,"status":{"s":2}`, true, true, -1},
		{nil, nil, ``, `,"status":{"s":2}`, true, true, -1},
		{nil, nil, `,"status":{"s":1}`, ``, true, true, -1},
		{nil, []string{`:3`, `:7`}, ``, ``, true, true, 3},
		{[]string{`:3`, `:0`}, nil, ``, ``, true, false, 0},
		{[]string{`:3`, `:1`}, nil, ``, ``, true, true, 1},
		{[]string{`:3`, `:"x"`}, nil, ``, ``, true, false, 0},
		{nil, []string{`"uid":"u",`, ``}, ``, ``, false, true, 3},
		{nil, []string{`"u"`, `""`}, ``, ``, false, true, 3},
		{nil, []string{`"u"`, `"v"`}, ``, ``, true, false, 0},
		{[]string{`"uid":"u",`, ``}, []string{`"uid":"u",`, ``}, ``, ``, false, true, 3},
		{nil, []string{now, later}, ``, ``, true, true, 3},
		{nil, []string{now, `"x"`}, ``, ``, false, true, 3},
		{[]string{now, `"x"`}, nil, ``, ``, true, false, 0},
		{[]string{`"creationTimestamp":` + now + `,`, ``}, nil, ``, ``, true, false, 0},
		{nil, []string{`"n"`, `"m"`}, ``, ``, false, false, 0},
		{nil, []string{`"namespace":"n",`, ``}, ``, ``, false, false, 0},
		{nil, []string{`"n"`, `"a.b"`}, ``, ``, false, false, 0},
		{nil, []string{`"e"`, `"f"`}, ``, ``, true, false, 0},
		{[]string{`"e"`, `"E"`}, []string{`"e"`, `"E"`}, ``, ``, false, false, 0},
		{nil, []string{`"uid"`, `"finalizers":["a/b"],"uid"`}, ``, ``, false, false, 0},
		{nil, []string{`"uid"`, `"generateName":"x","uid"`}, ``, ``, false, false, 0},
		{nil, []string{`"uid"`, `"labels":{"a":"b c"},"uid"`}, ``, ``, false, false, 0},
		{[]string{`"uid"`, `"deletionTimestamp":` + now + `,"uid"`}, []string{`"uid"`, `"deletionTimestamp":` + now + `,"uid"`}, ``, ``, false, false, 0},
	} {
		edit := func(pairs []string, fields string) map[string]any {
			return parse(t, strings.NewReplacer(pairs...).Replace(openObject)+fields+`}`)
		}
		for name, v := range map[string]*crd.Version{"no status": plain, "status": withStatus} {
			if got := atOnce(t, v, "", "n", edit(r.is, r.isF), nil); got != (r.create && !strings.Contains(r.isF, `"x"`)) {
				t.Errorf("%s: %+v: created at once: %t", name, r, got)
			}
			obj, old := edit(r.is, r.isF), edit(r.was, r.wasF)
			if got := atOnce(t, v, "", "n", obj, old); got != r.update {
				t.Errorf("%s: %+v: updated at once: %t", name, r, got)
			} else if got && r.generation >= 0 {
				u := &unstructured.Unstructured{Object: obj}
				v.Strategy.(*strategy).Accept(t.Context(), "n", u, &unstructured.Unstructured{Object: old})
				if u.GetGeneration() != r.generation {
					t.Errorf("%s: %+v: generation %d", name, r, u.GetGeneration())
				}
			}
		}
		atOnce(t, withStatus, "status", "n", edit(r.is, r.isF), edit(r.was, r.wasF))
		for _, pairs := range [][]string{r.is, append([]string{`"namespace":"n",`, ``}, r.is...)} {
			atOnce(t, cluster, "", "", edit(pairs, r.isF), nil)
			atOnce(t, cluster, "", "", edit(pairs, r.isF), edit(append([]string{`"namespace":"n",`, ``}, r.was...), r.wasF))
		}
	}
	takesNothingOddAtOnce(t, plain, withStatus, cluster)
}

// takesNothingOddAtOnce shows objects without a namespace, without metadata and with a status.
func takesNothingOddAtOnce(t *testing.T, plain, withStatus, cluster *crd.Version) {
	t.Helper()
	none := parse(t, strings.Replace(openObject, `"namespace":"n",`, ``, 1)+`}`)
	if !atOnce(t, cluster, "", "", none, nil) || !atOnce(t, cluster, "", "", none, none) || atOnce(t, plain, "", "", none, nil) || atOnce(t, cluster, "", "", parse(t, openObject+`}`), nil) {
		t.Error("where there are no namespaces")
	}
	for _, odd := range []string{`{}`, `{"metadata":1}`} {
		u := &unstructured.Unstructured{Object: parse(t, odd)}
		good := &unstructured.Unstructured{Object: parse(t, openObject+`}`)}
		s := plain.Strategy.(*strategy)
		if s.Accept(t.Context(), "n", u, nil) || s.Accept(t.Context(), "n", u, good) || s.Accept(t.Context(), "n", good, u) {
			t.Errorf("%s is accepted", odd)
		}
	}
	// The status of a state that lacks metadata.
	if !withStatus.Subresources["status"].Update.(*strategy).Accept(context.Background(), "n", &unstructured.Unstructured{Object: parse(t, openObject+`,"status":{"s":2}}`)}, &unstructured.Unstructured{Object: parse(t, openObject+`}`)}) {
		t.Error("a status is not accepted")
	}
}

// Whatever the definition and the objects are.
func TestAtOnceOfAnything_CRD05(t *testing.T) {
	created, updated := 0, 0
	for seed := range uint64(400) {
		g := generator{rand.New(rand.NewPCG(seed, 23))}
		c := g.definition()
		if !valid(t, c) {
			continue
		}
		for _, v := range compile(t, c).Versions {
			var last map[string]any
			for range 5 {
				obj := g.objectOf(v)
				if _, err := v.Shape.FromClient(obj, false); err != nil {
					continue
				}
				meta := obj["metadata"].(map[string]any)
				meta["creationTimestamp"], meta["uid"] = "2026-01-01T00:00:00Z", "u"
				if delete(meta, "namespace"); (c.Spec.Scope == apiextensionsv1.NamespaceScoped) != g.often(1) {
					meta["namespace"] = "n"
				}
				namespace, _ := meta["namespace"].(string)
				if delete(meta, "resourceVersion"); atOnce(t, v, "", namespace, obj, nil) {
					created++
				}
				meta["resourceVersion"] = "1"
				if last != nil && atOnce(t, v, "", namespace, obj, last) {
					updated++
				}
				if last != nil && v.Subresources["status"] != nil && atOnce(t, v, "status", namespace, obj, last) {
					updated++
				}
				last = runtime.DeepCopyJSON(obj)
			}
		}
	}
	if created < 50 || updated < 50 {
		t.Errorf("only %d creations and %d updates were accepted: they show too little", created, updated)
	}
}
