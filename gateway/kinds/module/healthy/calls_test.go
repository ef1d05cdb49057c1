package healthy_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	modulecalls "github.com/wasmgate/wasmgate/gateway/kinds/module/calls"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/healthy"
	"github.com/wasmgate/wasmgate/plugins"
)

// one is the revision that serves at first, and two the next one.
var one, two = plugins.Revision{Digest: "sha256:1"}, plugins.Revision{Digest: "sha256:2"}

// gateway is one that runs a module.
type gateway struct {
	*modulecalls.Calls
	serves atomic.Pointer[plugins.Revision]
	stop   func()
}

func (g *gateway) status(string) (plugins.Status, bool) {
	return plugins.Status{Serving: g.serves.Load()}, true
}

// serve plays the host when a revision begins to serve.
func (g *gateway) serve(rev *plugins.Revision) {
	g.Begin("tabs", module.RevisionName(*rev))
	g.serves.Store(rev)
}

func (g *gateway) fails() {
	g.Count("tabs", plugins.Convert, 0, &plugins.CallError{Kind: plugins.Trap, Reason: "it panicked"})
}

func (g *gateway) answers() { g.Count("tabs", plugins.Convert, 0, nil) }

// world has one module, and gateways.
type world struct{ *controllertest.Objects }

func in(t *testing.T, test func(t *testing.T, w world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := world{controllertest.New()}
		controllertest.MustCreate(t, w.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
		w.serve(t, one)
		test(t, w)
	})
}

// serve plays the controller of modules when a revision begins to serve.
func (w world) serve(t *testing.T, rev plugins.Revision) {
	t.Helper()
	controllertest.MustChange(t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		if err := module.SetCalls(obj, module.Calls{Revision: module.RevisionName(rev)}); err != nil {
			t.Error(err)
		}
		if err := gvr.SetConditions(obj, []metav1.Condition{{Type: module.Healthy, Status: metav1.ConditionUnknown, Reason: module.NoCalls}}); err != nil {
			t.Error(err)
		}
	})
}

func (w world) start(t *testing.T, name string) *gateway {
	t.Helper()
	g := &gateway{Calls: modulecalls.New()}
	g.serve(&one)
	g.stop = controllertest.Start(t, w.Objects, healthy.New(w.Objects, g.status, g.Calls, name))
	synctest.Wait()
	return g
}

// expect compares the condition after a while.
func (w world) expect(t *testing.T, after time.Duration, want string) (revision string) {
	t.Helper()
	<-time.After(after)
	synctest.Wait()
	obj := controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")
	status, reason, message := controllertest.Condition(obj, module.Healthy)
	if got := strings.TrimSpace(status + " " + reason + " " + message); got != want {
		t.Errorf("the condition is %q, want %q", got, want)
	}
	return obj.GetResourceVersion()
}

const (
	noCalls = "Unknown NoCalls"
	well    = "True CallsSucceed calls are answered"
	see     = "; the last one, of wasmgate_convert: Trap: it panicked; see: wasmgate module logs tabs"
)

// What one gateway sees is written soon, and then seldom, however often it fails.
func TestFailingCallsAreToldSeldom(t *testing.T) {
	in(t, func(t *testing.T, w world) {
		g := w.start(t, "a:1")
		defer func() { g.stop() }()
		w.expect(t, time.Minute, noCalls)
		g.answers()
		before := w.expect(t, 5500*time.Millisecond, well) // between two looks, as all that follows
		for range 100 {
			g.answers()
			<-time.After(time.Second)
		}
		if after := w.expect(t, 0, well); after != before {
			t.Error("it is told again that all is well")
		}
		g.fails()
		w.expect(t, 6*time.Second, "False CallsFail 1 of 1 calls failed since 2000-01-01T00:02:50Z at a:1"+see)
		writes, last := 0, ""
		for range 3600 {
			g.fails()
			<-time.After(time.Second)
			synctest.Wait()
			if now := controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs").GetResourceVersion(); now != last {
				writes, last = writes+1, now
			}
		}
		if writes < 10 || writes > 20 {
			t.Errorf("%d writes in an hour", writes)
		}
		obj := controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")
		if c := module.CallsOf(obj); len(c.Failing) != 1 || c.Failing[0].Failed < 3000 {
			t.Errorf("%+v", c)
		}
		<-time.After(time.Minute)
		g.answers()
		w.expect(t, 6*time.Second, well)
	})
}

// Gateways that see different things do not correct each other, and what one that
// is gone said counts no more after a while.
func TestGatewaysSeeTheirOwnCalls(t *testing.T) {
	in(t, func(t *testing.T, w world) {
		a, b := w.start(t, "a:1"), w.start(t, "b:2")
		defer a.stop()
		a.answers()
		w.expect(t, 6*time.Second, well)
		b.fails()
		w.expect(t, 6*time.Second, "False CallsFail 1 of 1 calls failed since 2000-01-01T00:00:10Z at b:2"+see)
		a.answers()
		before := w.expect(t, 50*time.Second, "False CallsFail 1 of 1 calls failed since 2000-01-01T00:00:10Z at b:2"+see)
		a.answers()
		if after := w.expect(t, 5*time.Second, "False CallsFail 1 of 1 calls failed since 2000-01-01T00:00:10Z at b:2"+see); after != before {
			t.Error("they correct each other")
		}
		a.fails()
		b.fails()
		w.expect(t, 5*time.Minute, "False CallsFail 3 of 3 calls failed since 2000-01-01T00:00:10Z at a:1, b:2"+see)
		b.stop()
		a.answers()
		w.expect(t, 20*time.Minute, well)
	})
}

// A gateway that starts again takes back what it said, and nobody knows more until
// there are calls; another revision is judged by its own.
func TestWhatWasSaidIsOfOneRevision(t *testing.T) {
	in(t, func(t *testing.T, w world) {
		a := w.start(t, "a:1")
		a.fails()
		w.expect(t, 6*time.Second, "False CallsFail 1 of 1 calls failed since 2000-01-01T00:00:05Z at a:1"+see)
		a.stop()
		a = w.start(t, "a:1")
		defer func() { a.stop() }()
		w.expect(t, 6*time.Second, "Unknown NoCalls no call was made since those that failed")
		a.fails()
		a.serve(&two) // before the status says so
		w.expect(t, time.Minute, "Unknown NoCalls no call was made since those that failed")
		w.serve(t, two)
		w.expect(t, time.Minute, noCalls)
		a.answers()
		w.expect(t, 6*time.Second, well)
	})
}
