package healthy_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// said has n gateways, b00 and so on, say that one of two calls failed: each a second
// earlier than the one before, for a reason of its own.
func (w world) said(t *testing.T, n int) {
	t.Helper()
	controllertest.MustChange(t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		calls := module.Calls{Revision: module.RevisionName(one)}
		for i := range n {
			at := metav1.NewTime(time.Now().Add(time.Duration(-i) * time.Second).Truncate(time.Second))
			calls.Failing = append(calls.Failing, module.FailingCalls{Gateway: fmt.Sprintf("b%02d", i), Calls: 2, Failed: 1, Since: at, Updated: at, Hook: "wasmgate_admit", Reason: fmt.Sprint("reason ", i)})
		}
		if err := module.SetCalls(obj, calls); err != nil {
			t.Error(err)
		}
	})
}

func (w world) gateways(t *testing.T, want int) {
	t.Helper()
	calls := module.CallsOf(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs"))
	if len(calls.Failing) != want {
		t.Errorf("%d gateways say something, want %d", len(calls.Failing), want)
	}
}

// What gateways say is added up: since the first, in order of their names, and of the last
// call the reason, whoever says it.
func TestWhatGatewaysSayIsAddedUp(t *testing.T) {
	in(t, func(t *testing.T, w world) {
		<-time.After(time.Minute)
		w.said(t, 3)
		g := w.start(t, "a:1")
		defer g.stop()
		w.expect(t, 6*time.Second, "False CallsFail 3 of 6 calls failed since 2000-01-01T00:00:58Z at b00, b01, b02; the last one, of wasmgate_admit: reason 0; see: wasmgate module logs tabs")
		g.fails()
		w.expect(t, 6*time.Second, "False CallsFail 4 of 7 calls failed since 2000-01-01T00:00:58Z at a:1, b00, b01, b02"+see)
		w.expect(t, 20*time.Minute, "False CallsFail 1 of 1 calls failed since 2000-01-01T00:01:10Z at a:1"+see) // the others are gone
	})
}

// No more than twenty gateways are remembered: another one is when one of them is gone.
func TestTwentyGatewaysAreRemembered(t *testing.T) {
	for n, want := range map[int]int{19: 20, 20: 20} {
		in(t, func(t *testing.T, w world) {
			w.said(t, n)
			g := w.start(t, "a:1")
			defer g.stop()
			g.fails()
			<-time.After(6 * time.Second)
			synctest.Wait()
			w.gateways(t, want)
			<-time.After(20 * time.Minute)
			synctest.Wait()
			w.gateways(t, 1)
		})
	}
}

// What could not be written is tried again.
func TestWhatIsNotWrittenIsTriedAgain(t *testing.T) {
	in(t, func(t *testing.T, w world) {
		var failures atomic.Int64
		w.Fail(func(op string, _ controller.Key) error {
			if op == "update/status" && failures.Add(1) <= 2 {
				return errors.New("no store")
			}
			return nil
		})
		g := w.start(t, "a:1")
		defer g.stop()
		g.fails()
		<-time.After(time.Minute)
		w.expect(t, 0, "False CallsFail 1 of 1 calls failed since 2000-01-01T00:00:05Z at a:1"+see)
		if n := failures.Load(); n < 3 {
			t.Errorf("it was written %d times", n)
		}
	})
}
