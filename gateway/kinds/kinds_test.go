package kinds_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/filter"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// What several kinds do is all there together, and one that lacks something takes nothing
// away from those before it.
func TestWhatKindsDoIsPutTogether(t *testing.T) {
	type flow struct{ filter.Flow }
	type elsewhere struct{ api.Elsewhere }
	controllers := func(names ...string) func() (out []kinds.Controller) {
		return func() (out []kinds.Controller) {
			for _, n := range names {
				out = append(out, kinds.Controller{Switch: n})
			}
			return out
		}
	}
	path := func(name string) api.ContentPath { return api.ContentPath{Subresource: name} }
	first := kinds.Served{
		Contents: map[api.ContentPath]api.Content{path("log"): nil}, Documents: map[string]reply.Response{"/a": {}},
		Starts: []kinds.Start{{Name: "a"}}, Controllers: controllers("a"), Authenticators: []authn.Authenticator{nil},
		Flow: flow{}, Elsewhere: elsewhere{}, Others: func() *discovery.Others { return nil },
		Reviews: func(authn.Authenticator, authz.Decider) map[schema.GroupResource]api.Review { return nil },
		Orders:  func() discovery.Order { return nil },
	}
	second := kinds.Served{
		Contents: map[api.ContentPath]api.Content{path("proxy"): nil}, Questions: map[api.ContentPath]api.Question{path("usage"): {}},
		Connections: map[api.ContentPath]api.Connection{path("exec"): nil}, Documents: map[string]reply.Response{"/b": {}}, Debug: []api.Documents{nil},
		Starts: []kinds.Start{{Name: "b"}}, Controllers: controllers("b", "c"), Authenticators: []authn.Authenticator{nil},
	}
	for what, order := range map[string][]kinds.Served{"in order": {first, {}, second}, "the other way": {second, first, {}}} {
		var all kinds.Served
		for _, s := range order {
			all.Add(s)
		}
		var starts, run []string
		for _, s := range all.Starts {
			starts = append(starts, s.Name)
		}
		for _, c := range all.Controllers() {
			run = append(run, c.Switch)
		}
		slices.Sort(starts)
		slices.Sort(run)
		got := []int{len(all.Contents), len(all.Questions), len(all.Connections), len(all.Documents), len(all.Debug), len(all.Authenticators)}
		if !reflect.DeepEqual(got, []int{2, 1, 1, 2, 1, 2}) || strings.Join(starts, "") != "ab" || strings.Join(run, "") != "abc" {
			t.Errorf("%s: %v, starts %q, controllers %q", what, got, starts, run)
		}
		if all.Flow == nil || all.Elsewhere == nil || all.Others == nil || all.Reviews == nil || all.Orders == nil {
			t.Errorf("%s: what only one kind has is gone: %+v", what, all)
		}
	}
	var none kinds.Served
	none.Add(kinds.Served{})
	if none.Controllers != nil || none.Flow != nil || none.Contents == nil {
		t.Errorf("of kinds that do nothing: %+v", none)
	}
}

func TestWhichKindsAreServed(t *testing.T) {
	c := kinds.Config{Definitions: []*crd.Definition{{Plural: "pods"}, {Group: "apps", Plural: "deployments"}}}
	for gr, want := range map[schema.GroupResource]bool{{Resource: "pods"}: true, {Group: "apps", Resource: "deployments"}: true, {Group: "apps", Resource: "pods"}: false, {Resource: "secrets"}: false} {
		if c.Has(gr) != want {
			t.Errorf("%s: %v", gr, !want)
		}
	}
}

// content is a strategy that warns of everything.
type content struct{ crd.Strategy }

func (content) Validate(context.Context, *unstructured.Unstructured, *unstructured.Unstructured) crd.Verdict {
	return crd.Verdict{Warnings: []string{"seen"}}
}

// Names of what is in folders are refused, or warned of where there are no folders; those
// that are there already may be written, and other kinds have whatever names they like.
func TestNamesOfFoldersAreReserved(t *testing.T) {
	const text = `names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API`
	named := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}
	}
	hooks := func() *crd.Definition {
		return &crd.Definition{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration", Versions: []*crd.Version{{Strategy: content{}}, {Strategy: content{}}}}
	}
	pods := &crd.Definition{Kind: "Pod", Versions: []*crd.Version{{Strategy: content{}}}}
	for _, on := range []bool{true, false} {
		o := options.Default()
		o.FeatureGates = []string{"ManifestBasedAdmissionControlConfig=" + map[bool]string{true: "true", false: "false"}[on]}
		if o.Enabled(options.ManifestBasedAdmissionControlConfig) != on {
			t.Fatalf("%q does not set the gate to %v", o.FeatureGates, on)
		}
		d := hooks()
		kinds.Reserve(o).Extend(d)
		kinds.Reserve(o).Extend(pods)
		for _, v := range d.Versions {
			got := v.Strategy.Validate(t.Context(), named("a.static.k8s.io"), nil)
			if on && (len(got.Errors) != 1 || got.Errors[0].Error() != `metadata.name: Invalid value: "a.static.k8s.io": `+text || len(got.Warnings) != 1) {
				t.Errorf("with folders: %+v", got)
			}
			if !on && (len(got.Errors) != 0 || !slices.Equal(got.Warnings, []string{"seen", "metadata.name: " + text})) {
				t.Errorf("without folders: %+v", got)
			}
			for what, verdict := range map[string]crd.Verdict{
				"another name": v.Strategy.Validate(t.Context(), named("a.k8s.io"), nil),
				"an update":    v.Strategy.Validate(t.Context(), named("a.static.k8s.io"), named("a.static.k8s.io")),
				"a pod":        pods.Versions[0].Strategy.Validate(t.Context(), named("a.static.k8s.io"), nil),
			} {
				if len(verdict.Errors) != 0 || !slices.Equal(verdict.Warnings, []string{"seen"}) {
					t.Errorf("%s: %+v", what, verdict)
				}
			}
		}
	}
}
