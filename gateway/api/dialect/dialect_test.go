package dialect_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// kind is a namespaced kind of a group with the given verbs, of a Go type or not.
func kind(group string, native bool, verbs ...string) resource.Target {
	v := &crd.Version{Name: "v1", Subresources: map[string]*crd.Subresource{"status": {Verbs: []string{"get"}}}}
	if native {
		v.Typed = func() runtime.Object { return &corev1.Pod{} }
	}
	d := &crd.Definition{Group: group, Kind: "Pod", Plural: "pods", Namespaced: true, Versions: []*crd.Version{v}, Verbs: verbs}
	return resource.Target{Resource: &catalog.Resource{Renderer: view.New(d, nil, nil)}, Version: v}
}

// told is what a refusal comes to: its reason, or that no handler of a native kind is
// for the request, and in which words.
func told(err error) string {
	var s apierrors.APIStatus
	switch {
	case err == nil:
		return "served"
	case errors.Is(err, reply.ErrNoPath):
		return "no path"
	case !dialect.Versioned(err):
		return "unrouted " + err.Error()
	case errors.As(err, &s):
		return string(s.Status().Reason)
	}
	return err.Error()
}

// The answers are those of kube-apiserver 1.36.3 to pods and to custom resources.
func TestRefusals(t *testing.T) {
	const noMethod, noResource = "unrouted the server does not allow this method on the requested resource", "unrouted the server could not find the requested resource"
	all := []string{"get", "list", "create", "update", "patch", "delete"}
	for name, c := range map[string]struct {
		verb, name, method string
		verbs              []string
		native, custom     string
	}{
		"one":                      {"get", "x", "GET", all, "served", "served"},
		"a HEAD":                   {"get", "x", "HEAD", all, noMethod, "served"},
		"an update without a name": {"update", "", "PUT", all, noMethod, "BadRequest"},
		"a patch without a name":   {"patch", "", "PATCH", all, noMethod, "BadRequest"},
		"a create with a name":     {"create", "x", "POST", all, noMethod, "served"},
		"a name that is none":      {"get", "..", "GET", all, "served", "BadRequest"},
		"a watch of what is not":   {"watch", "", "GET", all, "MethodNotAllowed", "MethodNotAllowed"},
		"what is not done":         {"deletecollection", "", "DELETE", all, noMethod, "MethodNotAllowed"},
		"one of what is created":   {"get", "x", "GET", []string{"create"}, noResource, "MethodNotAllowed"},
	} {
		for native, want := range map[bool]string{true: c.native, false: c.custom} {
			k := kind("example.com", native, c.verbs...)
			k.Name = c.name
			if got := told(dialect.Unserved(k, c.verb, c.method, c.verbs)); got != want {
				t.Errorf("%s, native %v: %s, want %s", name, native, got, want)
			}
		}
	}
}

// What a refused patch could have been depends on what there is at the address.
func TestRefusedPatchesSayWhatIsTaken_UPD04(t *testing.T) {
	for native, words := range map[bool]string{
		true:  "415: Unsupported Media Type",
		false: "accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
	} {
		err := dialect.UnsupportedPatch(kind("example.com", native))
		if !apierrors.IsUnsupportedMediaType(err) || !strings.Contains(err.Error(), words) || dialect.Versioned(err) == native {
			t.Errorf("native %v: %v", native, err)
		}
	}
}

func TestPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		verb, name, namespace string
		cluster, scoped       bool
		native, custom        string
	}{
		"a namespace":                     {"get", "x", "ns", false, true, "served", "served"},
		"all namespaces":                  {"list", "", "", false, false, "served", "served"},
		"none where one belongs":          {"get", "x", "", false, true, "BadRequest", "no path"},
		"a create without one":            {"create", "", "", false, false, "unrouted", "no path"},
		"what lacks it itself":            {"create", "", "", false, true, "served", "no path"},
		"a name to create at":             {"create", "x", "", false, true, "BadRequest", "no path"},
		"one without one":                 {"get", "x", "", false, false, "unrouted", "no path"},
		"one where none belongs":          {"get", "x", "", true, true, "unrouted", "no path"},
		"what is not in a namespace":      {"get", "x", "", true, false, "served", "served"},
		"a collection that is in a place": {"watch", "", "", false, true, "served", "served"},
	} {
		for native, want := range map[bool]string{true: c.native, false: c.custom} {
			k := kind("example.com", native)
			k.Name, k.Namespace, k.Resource.Def.Namespaced = c.name, c.namespace, !c.cluster
			s := &catalog.Snapshot{Definitions: []*crd.Definition{k.Resource.Def}}
			if got := told(dialect.Misplaced(s, k, c.verb, c.scoped)); !strings.HasPrefix(got, want) {
				t.Errorf("%s, native %v: %s, want %s", name, native, got, want)
			}
		}
	}
}

// Below a group of which Kubernetes has kinds the refusal is a Status.
func TestNoResource(t *testing.T) {
	s := &catalog.Snapshot{Definitions: []*crd.Definition{kind("apps", true).Resource.Def, kind("example.com", false).Resource.Def}}
	for group, want := range map[string]string{"": "unrouted", "apps": "unrouted", "example.com": "no path", "none.example.com": "no path"} {
		if got := told(dialect.NoResource(s, group)); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", group, got, want)
		}
	}
}

func TestBelowAnObject(t *testing.T) {
	for name, c := range map[string]struct{ sub, verb, method, below, native, custom string }{
		"status":              {"status", "get", "GET", "", "served", "served"},
		"its HEAD":            {"status", "get", "HEAD", "", "unrouted", "served"},
		"what it has not":     {"status", "patch", "PATCH", "", "unrouted", "MethodNotAllowed"},
		"more path":           {"status", "get", "GET", "x", "unrouted", "served"},
		"no such subresource": {"none", "get", "GET", "", "unrouted", "NotFound"},
	} {
		for native, want := range map[bool]string{true: c.native, false: c.custom} {
			k := kind("example.com", native)
			k.Name, k.Subresource = "x", c.sub
			s := &catalog.Snapshot{Definitions: []*crd.Definition{k.Resource.Def}}
			if got := told(dialect.UnservedBelow(s, k, k.Version.Subresources[c.sub], c.verb, c.method, c.below)); !strings.HasPrefix(got, want) {
				t.Errorf("%s, native %v: %s, want %s", name, native, got, want)
			}
		}
	}
	for native, want := range map[bool]string{true: "unrouted the server could not find", false: "MethodNotAllowed"} {
		k := kind("example.com", native)
		k.Subresource = "status"
		if got := told(dialect.Watched(k, "watch", "GET")); !strings.HasPrefix(got, want) {
			t.Errorf("an old watch below an object, native %v: %s", native, got)
		}
	}
}

func TestWhole(t *testing.T) {
	bare := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7", Annotations: map[string]string{"a": "b"}}}
	bare.APIVersion, bare.Kind = "v1", "Pod"
	if got := dialect.Whole(kind("", false), bare); got != any(bare) {
		t.Errorf("a custom resource: %+v", got)
	}
	pod, ok := dialect.Whole(kind("", true), bare).(*corev1.Pod)
	if !ok || pod.ResourceVersion != "7" || pod.Annotations["a"] != "b" || pod.Kind != "Pod" {
		t.Errorf("%+v", pod)
	}
}

// Nobody else at the edge asks whether a kind is one of Kubernetes itself.
func TestOnlyTheDialectAsks(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == "../dialect" {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(".Native()")) {
			t.Errorf("%s asks for itself", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
