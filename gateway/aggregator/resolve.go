package aggregator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

var (
	services = schema.GroupResource{Resource: "services"}
	parts    = schema.GroupResource{Group: discoveryv1.GroupName, Resource: "endpointslices"}

	dialer = net.Dialer{Timeout: 5 * time.Second}
)

// resolve is where a service is reached, HOST:PORT, as kube-apiserver finds it.
func (s *Servers) resolve(ctx context.Context, ref *apiregistrationv1.ServiceReference) (string, error) {
	port := portOf(ref)
	if ref.Namespace == "default" && ref.Name == "kubernetes" && port == 443 {
		return s.Here, nil
	}
	service, err := s.service(ctx, ref)
	if err != nil {
		return "", err
	}
	host := service.Spec.ClusterIP
	switch {
	case service.Spec.Type == corev1.ServiceTypeExternalName:
		return net.JoinHostPort(service.Spec.ExternalName, strconv.Itoa(int(port))), nil
	case s.ByEndpoints:
		return s.endpoint(ctx, service, port)
	case host == "" || host == corev1.ClusterIPNone:
		return "", fmt.Errorf("cannot route to service with ClusterIP %q", host)
	}
	if _, ok := named(service, port); !ok {
		return "", noPort(service, port)
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

func portOf(ref *apiregistrationv1.ServiceReference) int32 {
	if ref.Port == nil {
		return 443
	}
	return *ref.Port
}

func noPort(service *corev1.Service, port int32) error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", port, service.Name))
}

func (s *Servers) service(ctx context.Context, ref *apiregistrationv1.ServiceReference) (*corev1.Service, error) {
	obj, err := s.Objects.Get(ctx, services, ref.Namespace, ref.Name)
	if err != nil {
		return nil, err
	}
	var out corev1.Service
	return &out, runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &out)
}

// named is the name of a port of a service, and whether there is such a port.
func named(service *corev1.Service, port int32) (name string, ok bool) {
	for _, p := range service.Spec.Ports {
		if p.Port == port {
			return p.Name, true
		}
	}
	return "", false
}

// endpoint is one of the ready endpoints of a service, at random.
func (s *Servers) endpoint(ctx context.Context, service *corev1.Service, port int32) (string, error) {
	name, ok := named(service, port)
	if !ok {
		return "", noPort(service, port)
	}
	all, err := s.endpoints(ctx, service)
	if err != nil {
		return "", err
	}
	var at []string
	for _, slice := range all {
		n := portNamed(&slice, name)
		for i := range slice.Endpoints {
			if e := &slice.Endpoints[i]; n != nil && ready(e) {
				at = append(at, net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(*n))))
			}
		}
	}
	if len(at) == 0 {
		return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", service.Name))
	}
	return at[rand.IntN(len(at))], nil
}

// endpoints are the EndpointSlices of a service.
func (s *Servers) endpoints(ctx context.Context, service *corev1.Service) (out []discoveryv1.EndpointSlice, err error) {
	all, err := s.Objects.List(ctx, parts, service.Namespace)
	if err != nil {
		return nil, err
	}
	for _, obj := range all {
		if obj.GetLabels()[discoveryv1.LabelServiceName] != service.Name {
			continue
		}
		var slice discoveryv1.EndpointSlice
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &slice); err != nil {
			return nil, err
		}
		out = append(out, slice)
	}
	return out, nil
}

func portNamed(slice *discoveryv1.EndpointSlice, name string) *int32 {
	for _, p := range slice.Ports {
		if p.Name != nil && *p.Name == name && p.Port != nil {
			return p.Port
		}
	}
	return nil
}

func ready(e *discoveryv1.Endpoint) bool {
	return len(e.Addresses) > 0 && (e.Conditions.Ready == nil || *e.Conditions.Ready)
}
