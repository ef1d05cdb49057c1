package aggregator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// one is a single APIService, of which each status that is written is remembered.
type one struct {
	held
	it      *apiregistrationv1.APIService
	fails   error
	written []string
}

func (o *one) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	if gr != apiServices {
		return o.held.Get(ctx, gr, namespace, name)
	}
	if o.it == nil {
		return nil, apierrors.NewNotFound(gr, name)
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.it)
	return &unstructured.Unstructured{Object: m}, err
}

func (o *one) Update(_ context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	all, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range all {
		c := c.(map[string]any)
		o.written = append(o.written, fmt.Sprint(gr.Resource, "/", subresource, " ", c["status"], " ", c["reason"], ": ", c["message"]))
	}
	return obj, o.fails
}

func (o *one) Follow(_ context.Context, _ schema.GroupResource, fn func(namespace, name string)) error {
	fn("", "v1.g")
	return nil
}

// queue is what a controller asks for.
type queue struct{ asked []string }

func (q *queue) Add(k controller.Key) { q.asked = append(q.asked, k.Name) }
func (q *queue) AddAfter(k controller.Key, d time.Duration) {
	q.asked = append(q.asked, k.Name+" after "+d.String())
}
func (q *queue) Follow(k controller.Key, _ ...controller.Scope) { q.asked = append(q.asked, k.Name) }

// The condition of an APIService is written where it is another one, and counted.
func TestConditionsAreWrittenWhereTheyAreOthers(t *testing.T) {
	local := apiregistrationv1.APIServiceSpec{}
	gone := apiregistrationv1.APIServiceSpec{Service: to("work", "none", 0)}
	silent := apiregistrationv1.APIServiceSpec{Service: to("work", "s", 0), CABundle: []byte("none")}
	const isLocal, isGone = "True Local: Local APIServices are always available", `False ServiceNotFound: service/none in "work" is not present`
	const isSilent = "False FailedDiscoveryCheck: unable to load root certificates: unable to parse bytes as PEM block"
	refused, missing := apierrors.NewConflict(apiServices, "v1.g", errors.New("old")), apierrors.NewNotFound(apiServices, "v1.g")
	for name, test := range map[string]struct {
		spec        apiregistrationv1.APIServiceSpec
		was, writes string
		fails, err  error
		again       bool
		unavailable int
		lost        bool
	}{
		"local":           {spec: local, writes: isLocal},
		"local as before": {spec: local, was: isLocal},
		"gone":            {spec: gone, writes: isGone, unavailable: 1},
		"gone now":        {spec: gone, was: "True Passed: all checks passed", writes: isGone, unavailable: 1, lost: true},
		"gone as before":  {spec: gone, was: isGone, unavailable: 1},
		"silent":          {spec: silent, was: isSilent, again: true, unavailable: 1},
		"not written":     {spec: local, writes: isLocal, fails: refused, err: refused, unavailable: -1},
		"deleted":         {spec: local, writes: isLocal, fails: missing},
	} {
		a := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.g"}, Spec: test.spec}
		if status, rest, ok := strings.Cut(test.was, " "); ok {
			reason, message, _ := strings.Cut(rest, ": ")
			a.Status.Conditions = []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionStatus(status), Reason: reason, Message: message}}
		}
		o, q, m := &one{it: a, fails: test.fails}, &queue{}, metrics.New()
		m.Aggregator.Available("v1.another", true)
		err := NewAvailability(New(Config{Objects: o}), m.Aggregator).Reconcile(t.Context(), q, controller.Key{GroupResource: apiServices, Name: "v1.g"})
		var writes, asked []string
		if test.writes != "" {
			writes = []string{"apiservices/status " + test.writes}
		}
		if test.again {
			asked = []string{"v1.g after 2s"}
		}
		if !errors.Is(err, test.err) || !slices.Equal(o.written, writes) || !slices.Equal(q.asked, asked) {
			t.Errorf("%s: %v, written %q, asked for %q", name, err, o.written, q.asked)
		}
		counted(t, name, m, test.unavailable, test.lost)
	}
}

// counted compares the metrics of v1.g: whether it is unavailable, -1 for nothing, and
// whether it has become so.
func counted(t *testing.T, name string, m *metrics.Metrics, unavailable int, lost bool) {
	t.Helper()
	text, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	is, was := -1, false
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, `aggregator_unavailable_apiservice{name="v1.g"} %d`, &is)
		was = was || strings.HasPrefix(line, `aggregator_unavailable_apiservice_total{name="v1.g",`)
	}
	if is != unavailable || was != lost {
		t.Errorf("%s: unavailable %d, lost %t", name, is, was)
	}
}

// An APIService that is no more is not told of, nor one whose server was asked in vain
// because the gateway stops.
func TestWhatIsNotToldOfAPIServices(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	key, m := controller.Key{GroupResource: apiServices, Name: "v1.g"}, metrics.New()
	m.Aggregator.Available("v1.g", false)
	m.Aggregator.Lost("v1.g", "Passed")
	if err := NewAvailability(New(Config{Objects: &one{}}), m.Aggregator).Reconcile(t.Context(), &queue{}, key); err != nil {
		t.Error(err)
	}
	counted(t, "no more", m, -1, false)
	o := &one{it: &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.g"}}}
	if err := NewAvailability(New(Config{Objects: o}), m.Aggregator).Reconcile(ended, &queue{}, key); err != nil || o.written != nil {
		t.Errorf("the gateway stops: %v, written %q", err, o.written)
	}
	counted(t, "stops", m, -1, false)
	if err := NewAvailability(New(Config{Objects: troubled{}}), nil).Reconcile(t.Context(), &queue{}, key); err == nil {
		t.Error("what is not read is good")
	}
}

// Who is behind a service is looked at when that changes, or who may be behind any of its
// namespace.
func TestWhichAPIServicesAreLookedAtAgain(t *testing.T) {
	s, all := New(Config{}), map[schema.GroupVersion]*server{}
	for name, ref := range map[string]*apiregistrationv1.ServiceReference{"v1.a": to("work", "s", 0), "v1.b": to("work", "o", 0), "v1.c": to("play", "s", 0)} {
		all[versionOf(name)] = &server{name: name, spec: apiregistrationv1.APIServiceSpec{Service: ref}}
	}
	s.now.Store(&all)
	for key, want := range map[controller.Key][]string{
		{GroupResource: services, Namespace: "work", Name: "s"}:  {"v1.a"},
		{GroupResource: services, Namespace: "play", Name: "s"}:  {"v1.c"},
		{GroupResource: services, Namespace: "play", Name: "o"}:  nil,
		{GroupResource: parts, Namespace: "work", Name: "s-abc"}: {"v1.a", "v1.b"},
		{GroupResource: parts, Namespace: "none", Name: "s"}:     nil,
	} {
		q := &queue{}
		if err := NewAvailability(s, nil).Reconcile(t.Context(), q, key); err != nil {
			t.Error(err)
		}
		if slices.Sort(q.asked); !slices.Equal(q.asked, want) {
			t.Errorf("%v: %v", key, q.asked)
		}
	}
}

// An APIService that is not read is told of in the log, unless the gateway stops.
func TestAPIServicesThatAreNotReadAreLogged(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for want, ctx := range map[int]context.Context{1: t.Context(), 0: ended} {
		var log bytes.Buffer
		if err := New(Config{Objects: silentOne{&one{}}, Log: zerolog.New(&log)}).Follow(ctx); err != nil || strings.Count(log.String(), `"apiservice":"v1.g"`) != want {
			t.Errorf("%v; the log: %s", err, &log)
		}
	}
}

// silentOne is one that cannot be read.
type silentOne struct{ *one }

func (silentOne) Get(context.Context, schema.GroupResource, string, string) (*unstructured.Unstructured, error) {
	return nil, errUnread
}

// Who serves a version is who its APIService names, whose connections are kept until it
// names another or asks otherwise.
func TestConnectionsAreKeptAsLongAsNothingChanges(t *testing.T) {
	o := &one{}
	s := New(Config{Objects: o})
	var last *server
	for i, step := range []struct {
		spec *apiregistrationv1.APIServiceSpec
		same bool
	}{
		{nil, false},
		{&apiregistrationv1.APIServiceSpec{}, false},
		{&apiregistrationv1.APIServiceSpec{Service: to("work", "s", 0)}, false},
		{&apiregistrationv1.APIServiceSpec{Service: to("work", "s", 0)}, true},
		{&apiregistrationv1.APIServiceSpec{Service: to("work", "s", 443)}, false},
		{&apiregistrationv1.APIServiceSpec{Service: to("work", "s", 443), CABundle: []byte("none")}, false},
		{&apiregistrationv1.APIServiceSpec{Service: to("work", "s", 443), CABundle: []byte("none")}, true},
		{&apiregistrationv1.APIServiceSpec{}, false},
		{&apiregistrationv1.APIServiceSpec{Service: to("work", "s", 0)}, false},
		{nil, false},
	} {
		if o.it = nil; step.spec != nil {
			o.it = &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.g"}, Spec: *step.spec}
		}
		if err := s.update(t.Context(), "v1.g"); err != nil {
			t.Fatal(err)
		}
		now := (*s.now.Load())[versionOf("v1.g")]
		if (now != nil) != (step.spec != nil && step.spec.Service != nil) {
			t.Fatalf("%d: %+v", i, now)
		}
		if now != nil && last != nil && (now.transport == last.transport) != step.same && now.unusable == nil || now != nil && (now.unusable != nil) != (now.spec.CABundle != nil) {
			t.Errorf("%d: %+v, before %+v", i, now, last)
		}
		last = now
	}
}
