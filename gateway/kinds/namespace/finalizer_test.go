package namespace_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/namespace"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// gone is what a leader and the next remember in common.
func gone() leftovers.Gone {
	return leftovers.Gone{Store: storagetest.NewMemory(), Root: "/gone/"}
}

func deleteNamespace(t *testing.T, o *controllertest.Objects, name string) {
	t.Helper()
	if err := o.Delete(context.Background(), gvr.Namespaces, "", name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func namespaceGone(t *testing.T, o *controllertest.Objects, name string) {
	t.Helper()
	controllertest.Eventually(t, o, "namespace gone", func() bool { return controllertest.Gone(o, gvr.Namespaces, "", name) })
}

func TestNamespace_emptiesBeforeItGoes_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 20)
	for i := range 20 {
		controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", fmt.Sprintf("config-%d", i)))
	}
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("other"))
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("other", "stays"))
	o.Break(controllertest.CronTabs) // no object may be read, so none can be converted
	o.Fail(func(op string, _ controller.Key) error {
		if op != "update/finalize" {
			return nil
		}
		for _, r := range o.Served() {
			if left, _ := o.ListMetadata(context.Background(), r.GroupResource(), "work"); r.Namespaced && len(left) > 0 {
				t.Errorf("finalized with %d %s left", len(left), r.GroupResource())
			}
		}
		return nil
	})
	controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), gone()))
	deleteNamespace(t, o, "work")
	namespaceGone(t, o, "work")
	if controllertest.Gone(o, controllertest.ConfigMaps, "other", "stays") {
		t.Error("an object of another namespace was deleted")
	}
}

func TestNamespace_honoursFinalizersOfChildren_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 1)
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "held", "example.com/hold"))
	controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), gone()))
	deleteNamespace(t, o, "work")

	controllertest.Eventually(t, o, "conditions", func() bool {
		ns := controllertest.MustGet(t, o, gvr.Namespaces, "", "work")
		_, _, finalizers := controllertest.Condition(ns, "NamespaceFinalizersRemaining")
		return finalizers == "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
	})
	ns := controllertest.MustGet(t, o, gvr.Namespaces, "", "work")
	if phase, _, _ := unstructured.NestedString(ns.Object, "status", "phase"); phase != "Terminating" {
		t.Errorf("phase %q", phase)
	}
	for condition, want := range map[string]string{
		"NamespaceDeletionDiscoveryFailure":           "False ResourcesDiscovered All resources successfully discovered",
		"NamespaceDeletionGroupVersionParsingFailure": "False ParsedGroupVersions All legacy kube types successfully parsed",
		"NamespaceDeletionContentFailure":             "False ContentDeleted All content successfully deleted, may be waiting on finalization",
		"NamespaceContentRemaining":                   "True SomeResourcesRemain Some resources are remaining: crontabs.example.com has 1 resource instances",
	} {
		status, reason, message := controllertest.Condition(ns, condition)
		if got := status + " " + reason + " " + message; got != want {
			t.Errorf("%s: %s", condition, got)
		}
	}
	controllertest.RemoveFinalizer(t, o, controllertest.CronTabs, "work", "held", "example.com/hold")
	namespaceGone(t, o, "work")
	controllertest.Eventually(t, o, "no follower left", func() bool { return o.Followers(controllertest.CronTabs) == 0 })
}

// What a controller has made for a custom resource goes after it, or it would be made anew.
func TestNamespace_emptiesCustomResourcesBeforeBuiltInKinds(t *testing.T) {
	o := controllertest.WithCronTabs(t, 3)
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", "made"))
	o.Fail(func(op string, key controller.Key) error {
		if op == "delete" && key.GroupResource == controllertest.ConfigMaps {
			if left, _ := o.ListMetadata(context.Background(), controllertest.CronTabs, "work"); len(left) > 0 {
				t.Errorf("%s is deleted while %d custom resources are there", key, len(left))
			}
		}
		return nil
	})
	controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), gone()))
	deleteNamespace(t, o, "work")
	namespaceGone(t, o, "work")
}

// What a pod may be reached by is decided by objects around it, so these stay
// for as long as one runs.
func TestNamespace_emptiesPodsFirst_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 1)
	controllertest.MustCreate(t, o, gvr.Pods, controllertest.ObjectTree("work", "free"))
	controllertest.MustCreate(t, o, gvr.Pods, controllertest.ObjectTree("work", "running", "example.com/hold"))
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", "guard"))
	o.Fail(func(op string, key controller.Key) error {
		if op == "delete" && key.GroupResource != gvr.Pods && key.Namespace == "work" && !controllertest.Gone(o, gvr.Pods, "work", "running") {
			t.Errorf("%s is deleted while a pod is there", key)
		}
		return nil
	})
	controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), gone()))
	deleteNamespace(t, o, "work")
	controllertest.Eventually(t, o, "waiting for the pod", func() bool {
		ns := controllertest.MustGet(t, o, gvr.Namespaces, "", "work")
		_, _, remaining := controllertest.Condition(ns, "NamespaceContentRemaining")
		_, _, finalizers := controllertest.Condition(ns, "NamespaceFinalizersRemaining")
		return remaining == "Some resources are remaining: pods. has 1 resource instances" &&
			finalizers == "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
	})
	if !controllertest.Gone(o, gvr.Pods, "work", "free") || controllertest.Gone(o, controllertest.ConfigMaps, "work", "guard") {
		t.Error("a pod that nothing holds is there, or what is around another has gone")
	}
	controllertest.RemoveFinalizer(t, o, gvr.Pods, "work", "running", "example.com/hold")
	namespaceGone(t, o, "work")
}

// That a pod cannot be deleted, or looked for, does not mean that there is none.
func TestNamespace_keepsWhatIsAroundPodsThatFail_RES05(t *testing.T) {
	for _, failing := range []string{"delete", "list"} {
		o := controllertest.WithCronTabs(t, 0)
		controllertest.MustCreate(t, o, gvr.Pods, controllertest.ObjectTree("work", "running"))
		controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", "guard"))
		var broken atomic.Bool
		broken.Store(true)
		o.Fail(func(op string, key controller.Key) error {
			if op == failing && key.GroupResource == gvr.Pods && broken.Load() {
				return apierrors.NewInternalError(errors.New("disk on fire"))
			}
			return nil
		})
		controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), gone()))
		deleteNamespace(t, o, "work")
		controllertest.Eventually(t, o, "failure reported", func() bool {
			_, _, message := controllertest.Condition(controllertest.MustGet(t, o, gvr.Namespaces, "", "work"), "NamespaceDeletionContentFailure")
			return strings.Contains(message, "disk on fire")
		})
		if controllertest.Gone(o, controllertest.ConfigMaps, "work", "guard") {
			t.Errorf("%s of a pod fails, and what is around it has gone", failing)
		}
		broken.Store(false)
		namespaceGone(t, o, "work")
	}
}

func TestNamespace_deletesWhatTheCacheDidNotShowYet_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	o.Hold(controllertest.CronTabs)
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "unseen"))
	deleteNamespace(t, o, "work")
	controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), gone()))
	namespaceGone(t, o, "work")
	if err := o.Fresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !controllertest.Gone(o, controllertest.CronTabs, "work", "unseen") {
		t.Error("an object outlived its namespace")
	}
}

// A create that was let in before the deletion can commit while the namespace
// is being emptied, even after its kind was listed.
func TestNamespace_deletesWhatCommitsMeanwhile_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 3)
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", "config"))
	var late atomic.Bool
	o.Fail(func(op string, key controller.Key) error {
		if op == "delete" && key.Namespace == "work" && late.CompareAndSwap(false, true) {
			for i := range 5 {
				o.Smuggle(controllertest.CronTabs, controllertest.ObjectTree("work", fmt.Sprintf("late-%d", i)))
				o.Smuggle(controllertest.ConfigMaps, controllertest.ObjectTree("work", fmt.Sprintf("late-%d", i)))
			}
		}
		return nil
	})
	controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), gone()))
	deleteNamespace(t, o, "work")
	namespaceGone(t, o, "work")
	for _, r := range o.Served() {
		if left, _ := o.ListMetadata(context.Background(), r.GroupResource(), "work"); r.Namespaced && len(left) > 0 {
			t.Errorf("%d %s left", len(left), r.GroupResource())
		}
	}
}

func TestNamespace_deletesStragglers_RES05(t *testing.T) {
	namespace.HurryStragglers(t)
	o := controllertest.WithCronTabs(t, 0)
	o.Fail(func(op string, _ controller.Key) error {
		if op == "update/finalize" {
			o.Smuggle(controllertest.CronTabs, controllertest.ObjectTree("work", "straggler"))
		}
		return nil
	})
	controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), gone()))
	deleteNamespace(t, o, "work")
	namespaceGone(t, o, "work")
	controllertest.Eventually(t, o, "straggler gone", func() bool { return controllertest.Gone(o, controllertest.CronTabs, "work", "straggler") })
}

// A leader that ends before it looked again leaves that to the next.
func TestNamespace_deletesStragglersOfALostLeader_RES05(t *testing.T) {
	o, memory := controllertest.WithCronTabs(t, 0), gone()
	stop := controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), memory))
	deleteNamespace(t, o, "work")
	namespaceGone(t, o, "work")
	stop()
	o.Smuggle(controllertest.CronTabs, controllertest.ObjectTree("work", "straggler"))
	namespace.HurryStragglers(t)
	stop = controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), memory))
	controllertest.Eventually(t, o, "straggler gone", func() bool { return controllertest.Gone(o, controllertest.CronTabs, "work", "straggler") })
	controllertest.Eventually(t, o, "no more to look at", func() bool {
		names, err := memory.Kept(context.Background())
		return err == nil && len(names) == 0
	})
	stop()

	// Who remembers nothing does not know whose they are.
	o.Smuggle(controllertest.CronTabs, controllertest.ObjectTree("work", "unknown"))
	controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), memory))
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("next"))
	deleteNamespace(t, o, "next")
	namespaceGone(t, o, "next")
	if controllertest.Gone(o, controllertest.CronTabs, "work", "unknown") {
		t.Error("an object of a namespace that nobody let go was deleted")
	}
}

// That a definition cannot be served does not mean that the namespace holds
// nothing of its kind.
func TestNamespace_emptiesWhatIsNotServed_RES05(t *testing.T) {
	o := controllertest.WithCronTabs(t, 2)
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("work", "held", "example.com/hold"))
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("other"))
	controllertest.MustCreate(t, o, controllertest.CronTabs, controllertest.ObjectTree("other", "stays"))
	o.Unserve(controllertest.CronTabs)
	controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), gone()))
	deleteNamespace(t, o, "work")
	controllertest.Eventually(t, o, "waiting for the finalizer", func() bool {
		_, _, message := controllertest.Condition(controllertest.MustGet(t, o, gvr.Namespaces, "", "work"), "NamespaceContentRemaining")
		return message == "Some resources are remaining: crontabs.example.com has 1 resource instances"
	})
	controllertest.RemoveFinalizer(t, o, controllertest.CronTabs, "work", "held", "example.com/hold")
	namespaceGone(t, o, "work")
	if controllertest.Gone(o, controllertest.CronTabs, "other", "stays") {
		t.Error("an object of another namespace was deleted")
	}
}

func TestNamespace_reportsFailureAndTriesAgain(t *testing.T) {
	o := controllertest.WithCronTabs(t, 2)
	var broken atomic.Bool
	broken.Store(true)
	o.Fail(func(op string, key controller.Key) error {
		if op == "delete" && key.GroupResource == controllertest.CronTabs && broken.Load() {
			return apierrors.NewInternalError(errors.New("disk on fire"))
		}
		return nil
	})
	controllertest.Start(t, o, namespace.NewFinalizer(o, o, o.Stored(), gone()))
	deleteNamespace(t, o, "work")
	controllertest.Eventually(t, o, "failure reported", func() bool {
		status, reason, message := controllertest.Condition(
			controllertest.MustGet(t, o, gvr.Namespaces, "", "work"), "NamespaceDeletionContentFailure")
		return status == "True" && reason == "ContentDeletionFailed" && strings.Contains(message, "disk on fire")
	})
	broken.Store(false)
	namespaceGone(t, o, "work")
}

func TestBootstrap(t *testing.T) {
	o := controllertest.New()
	controllertest.Start(t, o, namespace.NewBootstrap(o), namespace.NewFinalizer(o, o, o.Stored(), gone()))
	exist := func() bool {
		for _, name := range namespace.System {
			if controllertest.Gone(o, gvr.Namespaces, "", name) {
				return false
			}
		}
		return true
	}
	controllertest.Eventually(t, o, "all there", func() bool { return exist() && o.Followers(gvr.Namespaces) == 2 })
	uid := controllertest.MustGet(t, o, gvr.Namespaces, "", "kube-public").GetUID()
	deleteNamespace(t, o, "kube-public")
	controllertest.Eventually(t, o, "created again", func() bool {
		ns, err := o.Get(context.Background(), gvr.Namespaces, "", "kube-public")
		return err == nil && ns.GetUID() != uid
	})
}

func TestEnsureSystemNamespaces(t *testing.T) {
	o := controllertest.New()
	for range 2 {
		if err := namespace.EnsureSystem(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
	if w := o.Writes(); w != len(namespace.System) {
		t.Errorf("%d writes", w)
	}
}

func TestEnsureSystemNamespacesFails(t *testing.T) {
	o := controllertest.New()
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("default"))
	o.Break(gvr.Namespaces)
	if err := namespace.EnsureSystem(context.Background(), o); !apierrors.IsInternalError(err) {
		t.Errorf("a read that fails: %v", err)
	}
	for name, c := range map[string]struct {
		failure error
		ok      bool
	}{
		"somebody was faster": {apierrors.NewAlreadyExists(gvr.Namespaces, "x"), true},
		"disk":                {apierrors.NewInternalError(errors.New("disk on fire")), false},
	} {
		o := controllertest.New()
		o.Fail(func(op string, _ controller.Key) error {
			if op == "create" {
				return c.failure
			}
			return nil
		})
		if err := namespace.EnsureSystem(context.Background(), o); (err == nil) != c.ok || !c.ok && !strings.Contains(err.Error(), `create namespace "default": `) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Other namespaces are nobody's business.
func TestBootstrapMakesItsOwnOnly(t *testing.T) {
	o := controllertest.New()
	b := namespace.NewBootstrap(o)
	if err := b.Reconcile(context.Background(), nil, controller.Key{GroupResource: gvr.Namespaces, Name: "mine"}); err != nil || o.Writes() != 0 {
		t.Errorf("%d writes, %v", o.Writes(), err)
	}
	if n := len(b.Seeds()); n != len(namespace.System) || b.Resync() <= 0 {
		t.Errorf("%d seeds, again after %s", n, b.Resync())
	}
}
