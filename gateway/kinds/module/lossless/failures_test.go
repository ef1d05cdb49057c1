package lossless_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
)

// deaf is a queue that nobody listens to.
type deaf struct{}

func (deaf) Add(controller.Key)                         {}
func (deaf) AddAfter(controller.Key, time.Duration)     {}
func (deaf) Follow(controller.Key, ...controller.Scope) {}

// away are contents that are not there.
type away struct{ err error }

func (a away) Get(context.Context, string) ([]byte, error) { return nil, a.err }
func (away) Digest([]byte) string                          { return "none" }

var tabs = controller.Key{GroupResource: gvr.Modules, Name: "tabs"}

// newWorld has a definition that a module converts for, which serves and asks for a proof.
func newWorld(t *testing.T) *world {
	w := &world{Objects: controllertest.New(), t: t, report: proof.Report{Verdict: proof.Lossless, Tried: 7}}
	controllertest.MustCreate(t, w.Objects, gvr.Modules, controllertest.ObjectTree("", "tabs"))
	w.define("tabs")
	w.change("sha256:one", map[string]any{"proof": "Report"})
	return w
}

// lossOf is what the module's condition says.
func lossOf(t *testing.T, o controllertest.Engine) string {
	status, _, _ := controllertest.Condition(controllertest.MustGet(t, o, gvr.Modules, "", "tabs"), module.Lossless)
	return status
}

// Whatever call fails, it is told, and another run says what a module loses.
func TestFailuresToSayWhatIsLostAreTold(t *testing.T) {
	var w *world
	scene := func() controllertest.Engine {
		w = newWorld(t)
		return w.Objects
	}
	controllertest.EachCallFails(t, 4, scene, func(f *controllertest.Failing) error {
		return lossless.New(f, w, contents{w}, w).Reconcile(t.Context(), deaf{}, tabs)
	}, func(f *controllertest.Failing) error {
		if got := lossOf(t, f.Engine); got != string(metav1.ConditionTrue) {
			return fmt.Errorf("the condition is %q", got)
		}
		return nil
	})
}

// A revision whose bytes cannot be had, or that cannot be loaded for another reason than
// itself, is tried again; nothing is said of it until then.
func TestWhatCannotBeLoadedIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	broken := errors.New("the disk is full")
	if err := lossless.New(w.Objects, w, away{broken}, w).Reconcile(t.Context(), deaf{}, tabs); !errors.Is(err, broken) {
		t.Errorf("without bytes: %v", err)
	}
	w.refuse = broken
	if err := lossless.New(w.Objects, w, contents{w}, w).Reconcile(t.Context(), deaf{}, tabs); !errors.Is(err, broken) {
		t.Errorf("that is not loaded: %v", err)
	}
	if got := lossOf(t, w.Objects); got != "" || len(w.proved) > 0 {
		t.Errorf("the condition is %q, proved were %q", got, w.proved)
	}
	if gone := (controller.Key{GroupResource: gvr.Modules, Name: "gone"}); lossless.New(w.Objects, w, contents{w}, w).Reconcile(t.Context(), deaf{}, gone) != nil {
		t.Error("a module that is gone is an error")
	}
}

// The revision that is to follow may have no bytes yet; that holds nothing up.
func TestANextRevisionWithoutContent(t *testing.T) {
	w := newWorld(t)
	w.change("sha256:one", map[string]any{"proof": "Enforce", "source": map[string]any{"upload": map[string]any{"digest": "sha256:one"}}})
	controllertest.MustChange(t, w.Objects, gvr.Modules, "", "", "tabs", func(obj *unstructured.Unstructured) {
		obj.Object["spec"] = map[string]any{"proof": "Enforce", "source": map[string]any{"upload": map[string]any{"digest": "sha256:two"}}}
	})
	if err := lossless.New(w.Objects, w, only{w, "sha256:one"}, w).Reconcile(t.Context(), deaf{}, tabs); err != nil {
		t.Error(err)
	}
	if got := lossOf(t, w.Objects); got != string(metav1.ConditionTrue) || len(w.proved) != 1 {
		t.Errorf("the condition is %q, proved were %q", got, w.proved)
	}
}

// only has the bytes of one digest.
type only struct {
	*world
	digest string
}

func (o only) Get(ctx context.Context, digest string) ([]byte, error) {
	if digest != o.digest {
		return nil, module.ErrNoContent
	}
	return contents{o.world}.Get(ctx, digest)
}

// While nobody has said which configuration serves, what was said of it stays, and so does
// what was proved.
func TestWhatIsKnownStaysUntilARevisionIsSaid(t *testing.T) {
	w := newWorld(t)
	c := lossless.New(w.Objects, w, contents{w}, w)
	look := func(proved int) {
		t.Helper()
		w.proved = nil
		if err := c.Reconcile(t.Context(), deaf{}, tabs); err != nil || len(w.proved) != proved {
			t.Errorf("%v; %q are proved", err, w.proved)
		}
		obj := controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")
		if status := module.StatusOf(obj); lossOf(t, w.Objects) != string(metav1.ConditionTrue) || len(status.Proofs) != 1 {
			t.Errorf("the condition is %q, the proofs are %+v", lossOf(t, w.Objects), status.Proofs)
		}
	}
	rev, _ := module.Wanted(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs"), nil)
	controllertest.MustChange(t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		obj.Object["status"].(map[string]any)["acceptedRevision"] = module.RevisionName(*rev)
	})
	look(1)
	configure := func(config any) {
		controllertest.MustChange(t, w.Objects, gvr.Modules, "", "", "tabs", func(obj *unstructured.Unstructured) { obj.Object["spec"].(map[string]any)["config"] = config })
	}
	configure(map[string]any{"a": "b"})
	look(0)
	configure(nil)
	look(0)
}
