package aggregator

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// Availability tells in the status of APIServices whether their servers answer.
type Availability struct {
	servers *Servers
	metrics *metrics.Aggregator

	mu   sync.Mutex
	over bool // guarded by mu: it counts no more
}

// NewAvailability makes the controller.
func NewAvailability(s *Servers, m *metrics.Aggregator) *Availability {
	return &Availability{servers: s, metrics: m}
}

// Name implements [controller.Controller].
func (*Availability) Name() string { return "apiservice-status-available" }

// Watches implements [controller.Controller].
func (*Availability) Watches() []schema.GroupResource {
	return []schema.GroupResource{apiServices, services, parts}
}

// Resync implements [controller.Resyncing]: servers come and go without an event.
func (*Availability) Resync() time.Duration { return 30 * time.Second }

// Workers implements [controller.Concurrent]: who is asked may take its time.
func (*Availability) Workers() int { return 5 }

// Work implements [controller.Working]: what was counted here is of no use once another
// gateway finds it out.
func (a *Availability) Work(ctx context.Context, _ controller.Queue) error {
	<-ctx.Done()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	a.metrics.Unknown()
	return nil
}

// askAgain is how soon a server is asked again that did not answer.
const askAgain = 2 * time.Second

// Reconcile implements [controller.Controller].
func (a *Availability) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key.GroupResource != apiServices {
		return a.touched(q, key)
	}
	obj, err := a.servers.Objects.Get(ctx, apiServices, "", key.Name)
	if apierrors.IsNotFound(err) {
		a.metrics.Gone(key.Name)
		return nil
	}
	var s apiregistrationv1.APIService
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &s)
	}
	if err != nil {
		return err
	}
	reason, why := "Local", error(nil)
	if s.Spec.Service != nil {
		reason, why = a.check(ctx, &s)
	}
	if ctx.Err() != nil {
		return nil
	}
	was := helper.IsAPIServiceConditionTrue(&s, apiregistrationv1.Available)
	if err := a.tell(ctx, obj, &s, reason, why); err != nil {
		return err
	}
	a.count(key.Name, reason, was, why == nil)
	if reason == failedDiscovery {
		q.AddAfter(key, askAgain)
	}
	return nil
}

// count tells the metrics what an APIService was, and is.
func (a *Availability) count(name, reason string, was, is bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	a.metrics.Available(name, is)
	if was && !is {
		a.metrics.Lost(name, reason)
	}
}

// touched has the APIServices looked at that a service, or its endpoints, is of.
func (a *Availability) touched(q controller.Queue, key controller.Key) error {
	for _, b := range *a.servers.now.Load() {
		if b.spec.Service.Namespace == key.Namespace && (key.GroupResource == parts || b.spec.Service.Name == key.Name) {
			q.Add(controller.Key{GroupResource: apiServices, Name: b.name})
		}
	}
	return nil
}

// tell writes the condition, if it is another one.
func (a *Availability) tell(ctx context.Context, obj *unstructured.Unstructured, s *apiregistrationv1.APIService, reason string, why error) error {
	c := apiregistrationv1.APIServiceCondition{
		Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue, LastTransitionTime: metav1.Now(), Reason: reason, Message: "all checks passed",
	}
	switch {
	case why != nil:
		c.Status, c.Message = apiregistrationv1.ConditionFalse, why.Error()
	case reason == "Local":
		c = helper.NewLocalAvailableAPIServiceCondition()
	}
	before := s.Status.DeepCopy()
	helper.SetAPIServiceCondition(s, c)
	if equality.Semantic.DeepEqual(before, &s.Status) {
		return nil
	}
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&s.Status)
	if err != nil {
		return err
	}
	obj.Object["status"] = status
	_, err = a.servers.Objects.Update(ctx, apiServices, "status", obj)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

const failedDiscovery = "FailedDiscoveryCheck"

// check finds out why a server is not available, in kube-apiserver's words.
func (a *Availability) check(ctx context.Context, s *apiregistrationv1.APIService) (reason string, why error) {
	ref := s.Spec.Service
	service, err := a.servers.service(ctx, ref)
	switch {
	case apierrors.IsNotFound(err):
		return "ServiceNotFound", fmt.Errorf("service/%s in %q is not present", ref.Name, ref.Namespace)
	case err != nil:
		return "ServiceAccessError", fmt.Errorf("service/%s in %q cannot be checked due to: %w", ref.Name, ref.Namespace, err)
	}
	if service.Spec.Type == corev1.ServiceTypeClusterIP {
		if reason, why := a.listens(ctx, ref, service); why != nil {
			return reason, why
		}
	}
	if err := a.answers(ctx, s); err != nil {
		return failedDiscovery, err
	}
	return "Passed", nil
}

// listens tells whether a service has the port, and somebody behind it.
func (a *Availability) listens(ctx context.Context, ref *apiregistrationv1.ServiceReference, service *corev1.Service) (reason string, why error) {
	name, ok := named(service, portOf(ref))
	if !ok {
		return "ServicePortError", fmt.Errorf("service/%s in %q is not listening on port %d", ref.Name, ref.Namespace, portOf(ref))
	}
	all, err := a.servers.endpoints(ctx, service)
	switch {
	case err != nil:
		return "EndpointsAccessError", fmt.Errorf("service/%s in %q cannot be checked due to: %w", ref.Name, ref.Namespace, err)
	case len(all) == 0:
		return "EndpointsNotFound", fmt.Errorf("cannot find endpointslices for service/%s in %q", ref.Name, ref.Namespace)
	}
	for _, slice := range all {
		if portNamed(&slice, name) != nil && hasReady(&slice) {
			return "", nil
		}
	}
	return "MissingEndpoints", fmt.Errorf("endpointslices for service/%s in %q have no addresses with port name %q", ref.Name, ref.Namespace, name)
}

func hasReady(slice *discoveryv1.EndpointSlice) bool {
	for i := range slice.Endpoints {
		if ready(&slice.Endpoints[i]) {
			return true
		}
	}
	return false
}

// attempts are how often a server is asked at once: behind a service there may be
// several, of which one that answers is enough.
const attempts = 5

// answers asks a server for what it has to have.
func (a *Availability) answers(ctx context.Context, s *apiregistrationv1.APIService) error {
	b := (*a.servers.now.Load())[versionOf(s.Name)]
	if b == nil || !equality.Semantic.DeepEqual(b.spec, s.Spec) {
		b = a.servers.server(s, versionOf(s.Name), nil)
		defer b.close()
	}
	if b.unusable != nil {
		return b.unusable
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	results := make(chan error, attempts)
	for range attempts {
		go func() {
			results <- b.answers(ctx, b.path())
		}()
	}
	var err error
	for range attempts {
		if err = <-results; err == nil {
			return nil
		}
	}
	b.transport.CloseIdleConnections()
	return err
}

// path is that of the version that a server serves.
func (b *server) path() string {
	if b.gv.Group == "" {
		return "/api/" + b.gv.Version
	}
	return "/apis/" + b.gv.Group + "/" + b.gv.Version
}
