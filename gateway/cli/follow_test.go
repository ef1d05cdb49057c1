package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// trouble answers gets and watches with these errors, in turn, the last ones for ever, and
// sends events to whoever watches.
type trouble struct {
	dynamic.ResourceInterface
	gets, watches []error
	events        []watch.Event
	got, watched  int
}

func (o *trouble) Get(context.Context, string, metav1.GetOptions, ...string) (*unstructured.Unstructured, error) {
	o.got++
	if err := o.gets[min(o.got, len(o.gets))-1]; err != nil {
		return nil, err
	}
	return at("1"), nil
}

func (o *trouble) Watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	o.watched++
	if options.FieldSelector != "metadata.name=m" || options.ResourceVersion != "1" {
		return nil, errors.New("another watch")
	}
	if err := o.watches[min(o.watched, len(o.watches))-1]; err != nil {
		return nil, err
	}
	w := watch.NewFakeWithChanSize(len(o.events), false)
	for _, e := range o.events {
		w.Action(e.Type, e.Object)
	}
	w.Stop()
	return w, nil
}

func at(rv string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetResourceVersion(rv)
	return u
}

// An object is followed until what is waited for is there, or an answer says that it will
// not be; whatever may go over is tried again.
func TestFollowing(t *testing.T) {
	odd := errors.New("what is there cannot be")
	forbidden, gone := apierrors.NewForbidden(modules.GroupResource(), "m", nil), apierrors.NewResourceExpired("old")
	busy, down := apierrors.NewTooManyRequestsError("busy"), errors.New("connection refused")
	event := func(kind watch.EventType, obj runtime.Object) watch.Event {
		return watch.Event{Type: kind, Object: obj}
	}
	for name, c := range map[string]struct {
		gets, watches []error
		events        []watch.Event
		want          error
		got, watched  int
	}{
		"it comes":                 {[]error{nil}, []error{nil}, []watch.Event{event(watch.Modified, at("2")), event(watch.Modified, at("done"))}, nil, 1, 1},
		"it goes":                  {[]error{nil}, []error{nil}, []watch.Event{event(watch.Deleted, at("done"))}, errDeleted, 1, 1},
		"it cannot be":             {[]error{nil}, []error{nil}, []watch.Event{event(watch.Modified, at("odd"))}, odd, 1, 1},
		"it may not be read":       {[]error{forbidden}, nil, nil, forbidden, 1, 0},
		"it may not be watched":    {[]error{nil}, []error{forbidden}, nil, forbidden, 1, 1},
		"the watch is too old":     {[]error{nil}, []error{gone, nil}, []watch.Event{event(watch.Modified, at("done"))}, nil, 2, 2},
		"the gateway is busy":      {[]error{busy, busy, nil}, []error{busy, nil}, []watch.Event{event(watch.Modified, at("done"))}, nil, 4, 2},
		"the gateway restarts":     {[]error{down, down, nil}, []error{down, nil}, []watch.Event{event(watch.Modified, at("done"))}, nil, 4, 2},
		"the watch tells an error": {[]error{nil, nil, forbidden}, []error{nil}, []watch.Event{event(watch.Error, &metav1.Status{}), event(watch.Modified, at("done"))}, forbidden, 3, 2},
		"something else comes":     {[]error{nil, forbidden}, []error{nil}, []watch.Event{event(watch.Modified, &metav1.Status{}), event(watch.Modified, at("done"))}, forbidden, 2, 1},
		"the gateway stays down":   {[]error{down}, nil, nil, down, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			o := &trouble{gets: c.gets, watches: c.watches, events: c.events}
			err := follow(ctx, o, "m", func(u *unstructured.Unstructured) (bool, error) {
				if u.GetResourceVersion() == "odd" {
					return false, odd
				}
				return u.GetResourceVersion() == "done", nil
			})
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || c.got > 0 && (o.got != c.got || o.watched != c.watched) {
				t.Errorf("%s: %v after %d gets and %d watches", name, err, o.got, o.watched)
			}
			if late := errors.Is(err, context.DeadlineExceeded); late != (c.got == 0) {
				t.Errorf("%s: it took all the time: %v", name, late)
			}
			// Ever more slowly: in an hour, a few seconds apart.
			if c.got == 0 && (o.got < 400 || o.got > 1500) {
				t.Errorf("%s: %d gets in an hour", name, o.got)
			}
		})
	}
}
