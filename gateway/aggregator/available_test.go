package aggregator

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// extension is a server of g.example.com/v1, and its port.
func extension(t *testing.T, broken *atomic.Bool) int64 {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() || r.URL.Path != "/apis/g.example.com/v1" || r.Header.Get("X-Remote-User") != "system:kube-aggregator" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(port, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func certificate() (*tls.Certificate, error) { return &tls.Certificate{}, nil }

// losing are objects of which it is only told that some may be gone.
type losing struct{ Objects }

func (losing) Follow(_ context.Context, _ schema.GroupResource, fn func(namespace, name string)) error {
	fn("", "")
	return nil
}

// A server whose APIService went while nobody was told is not asked any more.
func TestServersWhoseGoingIsNotTold(t *testing.T) {
	e := realengine.Start(t)
	controllertest.MustCreate(t, e, apiServices, map[string]any{"metadata": map[string]any{"name": "v1.g.example.com"}, "spec": map[string]any{
		"group": "g.example.com", "version": "v1", "groupPriorityMinimum": int64(10), "versionPriority": int64(10), "insecureSkipTLSVerify": true,
		"service": map[string]any{"namespace": "work", "name": "ext", "port": int64(443)},
	}})
	s := New(Config{Objects: losing{e}, Certificate: certificate, Log: zerolog.Nop()})
	for gone, known := range []bool{true, false} {
		if gone == 1 {
			if err := e.Delete(t.Context(), apiServices, "", "v1.g.example.com", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(e.Fresh(t.Context()), s.Load(t.Context()), s.Follow(t.Context())); err != nil || (s.Find("g.example.com", "v1") != nil) != known {
			t.Errorf("known: %v, %v", !known, err)
		}
	}
}

// Why a server is not available is told in kube-apiserver's words, whatever of it comes
// first: the service, its port, its endpoints, an answer.
func TestWhyAServerIsNotAvailable(t *testing.T) {
	e := realengine.Start(t)
	var broken atomic.Bool
	port := extension(t, &broken)
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("work"))
	controllertest.MustCreate(t, e, apiServices, map[string]any{"metadata": map[string]any{"name": "v1.g.example.com"}, "spec": map[string]any{
		"group": "g.example.com", "version": "v1", "groupPriorityMinimum": int64(10), "versionPriority": int64(10), "insecureSkipTLSVerify": true,
		"service": map[string]any{"namespace": "work", "name": "ext", "port": port},
	}})
	s := New(Config{Objects: e, Certificate: certificate, ByEndpoints: true, Log: zerolog.Nop()})
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(t.Context()); err != nil || s.Find("g.example.com", "v1") == nil {
		t.Fatal("the server is not known: ", err)
	}
	controllertest.Start(t, e, NewAvailability(s, metrics.New().Aggregator))
	tells := func(wantStatus, wantReason, wantMessage string) {
		t.Helper()
		controllertest.Eventually(t, e, wantReason, func() bool {
			status, reason, message := controllertest.Condition(controllertest.MustGet(t, e, apiServices, "", "v1.g.example.com"), "Available")
			return status == wantStatus && reason == wantReason && strings.Contains(message, wantMessage)
		})
	}
	service := func(spec map[string]any) {
		t.Helper()
		controllertest.MustCreate(t, e, services, map[string]any{"metadata": map[string]any{"namespace": "work", "name": "ext"}, "spec": spec})
	}
	gone := func(gr schema.GroupResource, name string) {
		t.Helper()
		if err := e.Delete(t.Context(), gr, "work", name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	at := func(port int64) []any { return []any{map[string]any{"name": "https", "protocol": "TCP", "port": port}} }

	tells("False", "ServiceNotFound", `service/ext in "work" is not present`)
	service(map[string]any{"type": "ClusterIP", "clusterIP": "None", "clusterIPs": []any{"None"}, "ports": at(port + 1)})
	tells("False", "ServicePortError", `service/ext in "work" is not listening on port `+strconv.FormatInt(port, 10))
	gone(services, "ext")
	service(map[string]any{"type": "ClusterIP", "clusterIP": "None", "clusterIPs": []any{"None"}, "ports": at(port)})
	tells("False", "EndpointsNotFound", `cannot find endpointslices for service/ext in "work"`)
	controllertest.MustCreate(t, e, parts, map[string]any{
		"metadata":    map[string]any{"namespace": "work", "name": "ext-1", "labels": map[string]any{"kubernetes.io/service-name": "ext"}},
		"addressType": "IPv4", "ports": at(port),
		"endpoints": []any{map[string]any{"addresses": []any{"192.0.2.1"}, "conditions": map[string]any{"ready": false}}},
	})
	tells("False", "MissingEndpoints", `endpointslices for service/ext in "work" have no addresses with port name "https"`)
	gone(services, "ext")
	tells("False", "ServiceNotFound", "")
	broken.Store(true)
	service(map[string]any{"type": "ExternalName", "externalName": "localhost"})
	tells("False", "FailedDiscoveryCheck", "bad status from https://localhost:"+strconv.FormatInt(port, 10)+"/apis/g.example.com/v1: 418")
	broken.Store(false) // and nobody says so
	tells("True", "Passed", "all checks passed")
}

// unread are objects that cannot be listed.
type unread struct{ Objects }

var errUnread = errors.New("not now")

func (unread) List(context.Context, schema.GroupResource, string) ([]*unstructured.Unstructured, error) {
	return nil, errUnread
}

// Who does not know of any server because it could not find out does not begin.
func TestServersThatAreNotRead(t *testing.T) {
	if err := New(Config{Objects: unread{}}).Load(t.Context()); !errors.Is(err, errUnread) {
		t.Errorf("the error is %v", err)
	}
}

// troubled has APIServices that cannot be read one by one, but for one.
type troubled struct {
	Objects
	all []*unstructured.Unstructured
	one *unstructured.Unstructured
}

func (o troubled) List(context.Context, schema.GroupResource, string) ([]*unstructured.Unstructured, error) {
	return o.all, nil
}

func (o troubled) Get(context.Context, schema.GroupResource, string, string) (*unstructured.Unstructured, error) {
	if o.one != nil {
		return o.one, nil
	}
	return nil, errors.New("the store does not answer")
}

// A gateway that cannot read who serves what does not begin to serve without them.
func TestServersThatCannotBeReadStopTheStart(t *testing.T) {
	one := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "v1.g.example.com"}}}
	odd := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "v1.g.example.com"}, "spec": "odd"}}
	all := []*unstructured.Unstructured{one}
	for want, objects := range map[string]troubled{"": {}, "the store does not answer": {all: all}, "cannot restore struct from": {all: all, one: odd}} {
		err := New(Config{Objects: objects, Log: zerolog.Nop()}).Load(t.Context())
		if (err != nil) != (want != "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
