package aggregator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// held are the services of a namespace, of which all but "none" are alike, and their
// endpoints.
type held struct {
	Objects
	service       corev1.ServiceSpec
	slices        []any
	broken, blind error // services, and endpoints, are not read
}

func (h held) Get(_ context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	if h.broken != nil {
		return nil, h.broken
	}
	if gr != services || name == "none" {
		return nil, apierrors.NewNotFound(gr, name)
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: h.service})
	return &unstructured.Unstructured{Object: m}, err
}

func (h held) List(_ context.Context, gr schema.GroupResource, namespace string) (all []*unstructured.Unstructured, err error) {
	if gr != parts || namespace != "work" {
		return nil, errors.New("this is not to be listed")
	}
	for _, s := range h.slices {
		m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s)
		if err != nil {
			return nil, err
		}
		all = append(all, &unstructured.Unstructured{Object: m})
	}
	return all, h.blind
}

// slice are endpoints of a service, with one port where that has a number.
func slice(of, portName string, port int32, endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{discoveryv1.LabelServiceName: of}}, Endpoints: endpoints}
	if port != 0 {
		s.Ports = []discoveryv1.EndpointPort{{Name: &portName, Port: &port}}
	}
	return s
}

func endpoint(ready *bool, addresses ...string) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{Addresses: addresses, Conditions: discoveryv1.EndpointConditions{Ready: ready}}
}

// to names a service, at the port that it has where none is said for 0.
func to(namespace, name string, port int32) *apiregistrationv1.ServiceReference {
	ref := &apiregistrationv1.ServiceReference{Namespace: namespace, Name: name}
	if port != 0 {
		ref.Port = &port
	}
	return ref
}

// A service is reached at its address or its name, at the port that the APIService says;
// that of the API itself is this gateway.
func TestWhereServicesAreReached(t *testing.T) {
	web := corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1", Ports: []corev1.ServicePort{{Name: "web", Port: 80}, {Name: "https", Port: 443}}}
	headless, without, elsewhere, six := web, web, corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "example.com"}, web
	headless.ClusterIP, without.ClusterIP, six.ClusterIP = "None", "", "fd00::1"
	for name, test := range map[string]struct {
		ref     *apiregistrationv1.ServiceReference
		service corev1.ServiceSpec
		want    string
	}{
		"this gateway":       {to("default", "kubernetes", 0), web, "here:6443"},
		"another port of it": {to("default", "kubernetes", 80), web, "10.0.0.1:80"},
		"another namespace":  {to("work", "kubernetes", 0), web, "10.0.0.1:443"},
		"another service":    {to("default", "s", 443), web, "10.0.0.1:443"},
		"version 6":          {to("work", "s", 0), six, "[fd00::1]:443"},
		"a name":             {to("work", "s", 8443), elsewhere, "example.com:8443"},
		"no such port":       {to("work", "s", 8443), web, `no service port 8443 found for service "s"`},
		"without an address": {to("work", "s", 0), headless, `cannot route to service with ClusterIP "None"`},
		"no address yet":     {to("work", "s", 0), without, `cannot route to service with ClusterIP ""`},
		"no such service":    {to("work", "none", 0), web, `services "none" not found`},
	} {
		got, err := New(Config{Objects: held{service: test.service}, Here: "here:6443"}).resolve(t.Context(), test.ref)
		if err != nil {
			got += err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// A service is reached at any of its endpoints that are ready, or do not say, at the port
// by the name that the service has for it.
func TestWhichEndpointsAreAsked(t *testing.T) {
	yes, no := true, false
	web := corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1", Ports: []corev1.ServicePort{{Name: "web", Port: 80}, {Name: "https", Port: 443}}}
	for name, test := range map[string]struct {
		port   int32
		slices []any
		want   string
	}{
		"ready":        {0, []any{slice("s", "https", 8443, endpoint(&yes, "10.1.0.1", "10.1.0.9"), endpoint(nil, "fd00::2"), endpoint(&no, "10.1.0.3"), endpoint(&yes))}, "10.1.0.1:8443 [fd00::2]:8443"},
		"many":         {80, []any{slice("s", "web", 1, endpoint(&yes, "10.1.0.1")), slice("s", "web", 2, endpoint(&yes, "10.1.0.2"))}, "10.1.0.1:1 10.1.0.2:2"},
		"others'":      {0, []any{slice("o", "https", 1, endpoint(&yes, "10.1.0.1")), slice("s", "https", 2, endpoint(&yes, "10.1.0.2"))}, "10.1.0.2:2"},
		"no port":      {0, []any{slice("s", "", 0, endpoint(&yes, "10.1.0.1")), slice("s", "https", 2, endpoint(&yes, "10.1.0.2"))}, "10.1.0.2:2"},
		"another port": {0, []any{slice("s", "web", 1, endpoint(&yes, "10.1.0.1"))}, `no endpoints available for service "s"`},
		"none":         {0, nil, `no endpoints available for service "s"`},
		"no such port": {81, []any{slice("s", "web", 1, endpoint(&yes, "10.1.0.1"))}, `no service port 81 found for service "s"`},
		"unreadable":   {0, []any{&map[string]any{"metadata": map[string]any{"labels": map[string]any{discoveryv1.LabelServiceName: "s"}}, "endpoints": "x"}}, "cannot restore slice from string"},
	} {
		s, all := New(Config{Objects: held{service: web, slices: test.slices}, ByEndpoints: true}), map[string]bool{}
		for range 200 { // so that each is picked
			got, err := s.resolve(t.Context(), to("work", "s", test.port))
			if err != nil {
				got += err.Error()
			}
			all[got] = true
		}
		if got := strings.Join(sorted(all), " "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	if _, err := New(Config{Objects: held{service: web, blind: errUnread}, ByEndpoints: true}).resolve(t.Context(), to("work", "s", 0)); !errors.Is(err, errUnread) {
		t.Errorf("endpoints that are not read: %v", err)
	}
}

func sorted(all map[string]bool) (names []string) {
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// What is wrong with a service is told in kube-apiserver's words; the server is asked only
// where there is nothing.
func TestWhatIsWrongWithAService(t *testing.T) {
	yes, no := true, false
	web := corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1", Ports: []corev1.ServicePort{{Name: "web", Port: 80}, {Name: "https", Port: 443}}}
	outside := web
	outside.Type = corev1.ServiceTypeNodePort
	good := slice("s", "https", 1, endpoint(&no, "10.1.0.1"), endpoint(&yes, "10.1.0.2"))
	for name, test := range map[string]struct {
		objects held
		port    int32
		want    string
	}{
		"no service":    {held{service: web, broken: apierrors.NewNotFound(services, "s")}, 0, `ServiceNotFound: service/s in "work" is not present`},
		"not read":      {held{service: web, broken: errUnread}, 0, `ServiceAccessError: service/s in "work" cannot be checked due to: not now`},
		"no port":       {held{service: web, slices: []any{good}}, 81, `ServicePortError: service/s in "work" is not listening on port 81`},
		"blind":         {held{service: web, blind: errUnread}, 0, `EndpointsAccessError: service/s in "work" cannot be checked due to: not now`},
		"no slices":     {held{service: web, slices: []any{slice("o", "https", 1, endpoint(&yes, "10.1.0.2"))}}, 0, `EndpointsNotFound: cannot find endpointslices for service/s in "work"`},
		"none is ready": {held{service: web, slices: []any{slice("s", "https", 1, endpoint(&no, "10.1.0.1"))}}, 0, `MissingEndpoints: endpointslices for service/s in "work" have no addresses with port name "https"`},
		"another port":  {held{service: web, slices: []any{slice("s", "web", 1, endpoint(&yes, "10.1.0.1"))}}, 0, `MissingEndpoints: endpointslices for service/s in "work" have no addresses with port name "https"`},
		"one is ready":  {held{service: web, slices: []any{slice("s", "web", 1), good}}, 0, "FailedDiscoveryCheck: unable to load root certificates: unable to parse bytes as PEM block"},
		"another type":  {held{service: outside}, 0, "FailedDiscoveryCheck: unable to load root certificates: unable to parse bytes as PEM block"},
	} {
		a := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.g"}, Spec: apiregistrationv1.APIServiceSpec{Service: to("work", "s", test.port), CABundle: []byte("none")}}
		reason, why := NewAvailability(New(Config{Objects: test.objects}), nil).check(t.Context(), a)
		if got := reason + ": " + why.Error(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
