package apiservice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	certutil "k8s.io/client-go/util/cert"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// stored answers with one object, or an error, and counts what is written.
type stored struct {
	Objects
	obj     *unstructured.Unstructured
	err     error
	written int
}

func (s *stored) Get(context.Context, schema.GroupResource, string, string) (*unstructured.Unstructured, error) {
	return s.obj, s.err
}

func (s *stored) Update(_ context.Context, _ schema.GroupResource, _ string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.written++
	return obj, nil
}

func (s *stored) Create(_ context.Context, _ schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.written++
	return obj, nil
}

// What extension servers believe is made once and then left alone while nothing changes.
func TestWhatExtensionServersBelieveIsKept(t *testing.T) {
	e := realengine.Start(t)
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("kube-system"))
	a := NewAuthentication(e, options.Default(), nil, nil)
	fresh := func() {
		if err := e.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	fresh()
	var version string
	for range 2 {
		if err := a.Keep(t.Context()); err != nil {
			t.Fatal(err)
		}
		fresh()
		obj, err := e.Get(t.Context(), configMaps, "kube-system", authentication)
		if err != nil {
			t.Fatal(err)
		}
		if data, _, _ := unstructured.NestedStringMap(obj.Object, "data"); data["requestheader-username-headers"] != `["X-Remote-User"]` {
			t.Errorf("%v", data)
		}
		if version != "" && obj.GetResourceVersion() != version {
			t.Errorf("written again: %s, then %s", version, obj.GetResourceVersion())
		}
		version = obj.GetResourceVersion()
	}
}

// What cannot be read is told, and not written over.
func TestWhatCannotBeReadIsNotWrittenOver(t *testing.T) {
	damaged := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": authentication, "namespace": "kube-system"}, "data": map[string]any{"client-ca-file": int64(1)},
	}}
	for what, s := range map[string]*stored{
		"an object that is damaged": {obj: damaged},
		"no answer":                 {err: apierrors.NewInternalError(context.DeadlineExceeded)},
	} {
		if err := NewAuthentication(s, options.Default(), nil, nil).Keep(t.Context()); err == nil || s.written != 0 {
			t.Errorf("%s: %v, %d times written", what, err, s.written)
		}
	}
}

// Of two gateways that write at once one is first; the other one looks again later. Any
// other failure is told.
func TestWhoIsFirstWritesWhatExtensionServersBelieve(t *testing.T) {
	broken := errors.New("no store")
	is := func(err error) func(schema.GroupResource, string) error {
		return func(schema.GroupResource, string) error { return err }
	}
	for what, c := range map[string]struct {
		there bool
		f     flawed
		want  error
	}{
		"made by another gateway": {false, flawed{create: is(apierrors.NewAlreadyExists(configMaps, authentication))}, nil},
		"not made":                {false, flawed{create: is(broken)}, broken},
		"written by another one":  {true, flawed{update: is(apierrors.NewConflict(configMaps, authentication, broken))}, nil},
		"not written":             {true, flawed{update: is(broken)}, broken},
	} {
		o := controllertest.New()
		controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("kube-system"))
		if c.there {
			controllertest.MustCreate(t, o, configMaps, map[string]any{"metadata": map[string]any{"name": authentication, "namespace": "kube-system"}})
		}
		c.f.Objects = o
		if err := NewAuthentication(&c.f, options.Default(), nil, nil).Keep(t.Context()); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Whose headers are believed is what the options say, and this gateway beside them where
// it has a certificate of its own and the options name whom they believe.
func TestWhoseHeadersAreBelieved(t *testing.T) {
	one, err := os.CreateTemp(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	cert, _, err := certutil.GenerateSelfSignedCertKey("one", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Write(cert); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		names []string
		own   []byte
		want  string
	}{
		"named":               {[]string{"proxy"}, cert, `["proxy","front-proxy-client"]`},
		"named with this one": {[]string{"front-proxy-client", "proxy"}, cert, `["front-proxy-client","proxy"]`},
		"anybody":             {nil, cert, `[]`},
		"no own certificate":  {[]string{"proxy"}, nil, `["proxy"]`},
	} {
		o := options.Default()
		o.Proxy.HeaderCAFile, o.Proxy.AllowedNames = one.Name(), c.names
		data, err := NewAuthentication(nil, o, c.own, nil).data(nil)
		if err != nil || data["requestheader-allowed-names"] != c.want || data["requestheader-client-ca-file"] != string(pki.Bundle(cert)) {
			t.Errorf("%s: %v, %v", what, data, err)
		}
		if _, ok := data["client-ca-file"]; ok {
			t.Errorf("%s: authorities of clients, of which there are none: %v", what, data)
		}
	}
	o := options.Default()
	o.Proxy.HeaderCAFile = one.Name() + "-not"
	if _, err := NewAuthentication(nil, o, nil, nil).data(nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	failing := NewAuthentication(controllertest.New(), options.Default(), nil, []string{one.Name() + "-not"})
	if err := failing.Keep(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of authorities of clients that is not there: %v", err)
	}
}

// Built-in versions are those that are served, each once, but for APIServices' own.
func TestBuiltInVersions(t *testing.T) {
	kind := func(group, plural string, versions ...*crd.Version) *crd.Definition {
		return &crd.Definition{Group: group, Plural: plural, Versions: versions}
	}
	v1, v2, off := &crd.Version{Name: "v1", Served: true}, &crd.Version{Name: "v2", Served: true}, &crd.Version{Name: "v3"}
	got := builtin(kinds.Config{Definitions: []*crd.Definition{
		kind("batch", "jobs", v2, v1, off), kind("batch", "cronjobs", v1), kind("apps", "deployments", v1), kind(gvr.APIServices.Group, "apiservices", v1), kind("", "pods", v1),
	}})
	if want := "[/v1 apiextensions.k8s.io/v1 apps/v1 batch/v1 batch/v2]"; strings.ReplaceAll(fmt.Sprint(got), "[v1", "[/v1") != want {
		t.Errorf("%v, want %s", got, want)
	}
}
