package definition_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/content"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

const cleanup = apiextensionsv1.CustomResourceCleanupFinalizer

// refusal is why the definition of CronTabs is told not to be emptied.
func refusal(t *testing.T, o *controllertest.Objects) string {
	t.Helper()
	_, reason, message := controllertest.Condition(controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition), "Terminating")
	if reason != "InstanceDeletionFailed" {
		t.Errorf("the reason is %s", reason)
	}
	return message
}

// A report wakes who made it: one that said something else each time would be made for
// ever, past all limits.
func TestCRDFinalizer_saysTheSameOfTheSameFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tabs, rounds = 30, 6
		o := controllertest.WithCronTabs(t, tabs)
		controllertest.DeleteDefinition(t, o)
		var reports, refusals atomic.Int32
		var asked [rounds]chan struct{} // closed when a round has come to its last delete
		for i := range asked {
			asked[i] = make(chan struct{})
		}
		o.Fail(func(op string, key controller.Key) error {
			switch {
			case op == "update/status":
				reports.Add(1)
			case op == "delete": // of which another one ends last in each round
				n := int(refusals.Add(1)) - 1
				switch round := asked[n/tabs]; n % tabs {
				case n / tabs:
					<-round
				case tabs - 1:
					close(round)
				}
				return apierrors.NewForbidden(key.GroupResource, key.Name, fmt.Errorf("webhook said no"))
			}
			return nil
		})
		f := definition.NewFinalizer(o, o, o.Stored())
		fails := func() string {
			t.Helper()
			err := f.Reconcile(t.Context(), &heard{}, crontabs)
			if err == nil || !strings.Contains(err.Error(), "webhook said no") || len(err.Error()) > 1000 {
				t.Errorf("it is told: %v", err)
			}
			return refusal(t, o)
		}
		message := fails()
		if !strings.Contains(message, "work/tab-0: ") || !strings.HasSuffix(message, "and 27 more") || strings.Count(message, "webhook said no") != 3 {
			t.Errorf("it says %q", message)
		}
		for range rounds - 1 {
			<-time.After(2 * content.Recheck) // by the bubble's clock: other words are told then
			if again := fails(); again != message {
				t.Errorf("it says %q, not %q", again, message)
			}
		}
		if n := reports.Load(); n != 2 { // that it begins, and that it failed
			t.Errorf("%d reports", n)
		}
	})
}

// Where the same words are never heard twice, not all of them are told.
func TestCRDFinalizer_doesNotTellEveryWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := controllertest.WithCronTabs(t, 1)
		controllertest.DeleteDefinition(t, o)
		var told, broken atomic.Int32
		broken.Store(1)
		o.Fail(func(op string, key controller.Key) error {
			if op == "delete" && broken.Load() > 0 {
				return apierrors.NewForbidden(key.GroupResource, key.Name, fmt.Errorf("request %d", told.Add(1)))
			}
			return nil
		})
		f := definition.NewFinalizer(o, o, o.Stored())
		says := func(want string) {
			t.Helper()
			if err := f.Reconcile(t.Context(), &heard{}, crontabs); err == nil {
				t.Error("it did not fail")
			}
			if got := refusal(t, o); !strings.HasSuffix(got, want) {
				t.Errorf("it says %q, want ... %q", got, want)
			}
		}
		says("request 1")
		says("request 1")
		<-time.After(content.Recheck - time.Nanosecond) // by the bubble's clock
		says("request 1")
		<-time.After(time.Nanosecond)
		says("request 4")
		says("request 4")
		broken.Store(0)
		if err := f.Reconcile(t.Context(), &heard{}, crontabs); err != nil || !controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) {
			t.Errorf("it is still there: %v", err)
		}
	})
}

// reporting remembers what the status of a definition is written to be, and what else is
// written of it.
type reporting struct {
	*controllertest.Objects
	mu      sync.Mutex
	reports []string
}

func (r *reporting) Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	status, reason, _ := controllertest.Condition(obj, "Terminating")
	r.note(append([]string{subresource, status, reason}, obj.GetFinalizers()...)...)
	return r.Objects.Update(ctx, gr, subresource, obj)
}

// note remembers something more.
func (r *reporting) note(words ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, strings.Join(words, " "))
}

// last is what was written last.
func (r *reporting) last() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reports[len(r.reports)-1]
}

// has checks all that was written.
func (r *reporting) has(t *testing.T, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.reports, want) {
		t.Errorf("%q, want %q", r.reports, want)
	}
}

// Whoever may say no to updates of definitions holds none that was emptied: its last
// status lets it go, in one write.
func TestCRDFinalizer_letsGoWithItsLastStatus(t *testing.T) {
	o := &reporting{Objects: controllertest.WithCronTabs(t, 2)}
	o.Fail(func(op string, key controller.Key) error {
		if op == "update" {
			return apierrors.NewForbidden(key.GroupResource, key.Name, errors.New("nobody may"))
		}
		return nil
	})
	controllertest.DeleteDefinition(t, o)
	if err := definition.NewFinalizer(o, o, o.Stored()).Reconcile(t.Context(), &heard{}, crontabs); err != nil {
		t.Error(err)
	}
	if !controllertest.Gone(o, gvr.Definitions, "", controllertest.CronTabsDefinition) {
		t.Error("it is still there")
	}
	o.has(t, "status True InstanceDeletionInProgress "+cleanup, "status False InstanceDeletionCompleted")
}
