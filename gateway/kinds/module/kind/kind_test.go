package kind

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/upload"
)

// Idle instances keep what is said, and half of all there is at most.
func TestWhatIdleInstancesKeep(t *testing.T) {
	for _, c := range []struct {
		said int64
		all  int
		want int64
	}{{0, 100, 50}, {10, 100, 10}, {80, 100, 50}} {
		if got := idle(c.said, c.all); got != c.want {
			t.Errorf("said %d of %d: %d, want %d", c.said, c.all, got, c.want)
		}
	}
}

// one has one module, and counts how often that is read.
type one struct {
	obj   *unstructured.Unstructured
	reads int
}

func (o *one) Get(_ context.Context, gr schema.GroupResource, _, name string) (*unstructured.Unstructured, error) {
	o.reads++
	if o.obj == nil || gr != gvr.Modules || name != "m" {
		return nil, errors.New("there is none")
	}
	return o.obj, nil
}

func signed(digest, by string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{
		"digest": digest, "signedBy": []any{map[string]any{"trust": "t", "authority": by, "key": "k"}},
	}}}
}

// Who vouches for a module is remembered for a second, of one content; of a module that
// is gone nothing is.
func TestWhoVouchesIsRememberedForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := &one{obj: signed("sha256:1", "a")}
		s := &signers{objects: objects, known: map[string]vouched{}}
		expect := func(digest string, reads int, want ...string) {
			t.Helper()
			if got := s.of(t.Context(), "m", digest); !slices.Equal(got, want) || objects.reads != reads {
				t.Errorf("%q after %d reads, want %q after %d", got, objects.reads, want, reads)
			}
		}
		expect("sha256:1", 1, "t/a")
		objects.obj = signed("sha256:2", "b")
		<-time.After(time.Second - 1)
		expect("sha256:1", 1, "t/a")
		expect("sha256:2", 2, "t/b")
		objects.obj = signed("sha256:2", "c")
		<-time.After(time.Second)
		expect("sha256:2", 3, "t/c")
		<-time.After(time.Second)
		objects.obj = nil
		expect("sha256:2", 4)
		objects.obj = signed("sha256:2", "d")
		expect("sha256:2", 5, "t/d")
	})
}

// Modules and their policies are checked when they are written, modules that are in use are
// kept, and other kinds are as they were.
func TestWhichKindsAreExtended(t *testing.T) {
	for gr, want := range map[schema.GroupResource]string{gvr.Trusts: "written", gvr.Modules: "sources", gvr.Rules: "", gvr.Pods: ""} {
		d := &crd.Definition{Group: gr.Group, Plural: gr.Resource, Versions: []*crd.Version{{Name: "v1"}, {Name: "v2"}}}
		(&Modules{}).extend(d)
		for _, v := range d.Versions {
			got := ""
			switch v.Strategy.(type) {
			case trust.Written:
				got = "written"
			case upload.Sources:
				got = "sources"
			}
			if got != want {
				t.Errorf("%s %s: %q, want %q", gr, v.Name, got, want)
			}
		}
		if _, kept := d.Hooks.(module.InUse); kept != (gr == gvr.Modules) {
			t.Errorf("%s is kept while it is in use: %v", gr, kept)
		}
	}
}
