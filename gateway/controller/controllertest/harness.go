package controllertest

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// patience is how long a test waits for what should be a matter of
// milliseconds, and takes longer on a busy machine.
const patience = time.Minute

// Start runs controllers until the test ends or stop is called; stop returns
// when they have ended.
func Start(t *testing.T, o Engine, cs ...controller.Controller) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		controller.Run(ctx, zerolog.Nop(), o, cs...)
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

// Eventually waits until ok is true, looking again after every change.
func Eventually(t *testing.T, o Engine, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		var changed <-chan struct{}
		if c, ok := o.(interface{ Changed() <-chan struct{} }); ok {
			changed = c.Changed()
		}
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-time.After(20 * time.Millisecond): // ok may look at more than objects, and o not tell
		case <-deadline:
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// Gone tells whether an object does not exist.
func Gone(o Engine, gr schema.GroupResource, namespace, name string) bool {
	_, err := o.Get(context.Background(), gr, namespace, name)
	return apierrors.IsNotFound(err)
}

// MustCreate creates an object from its tree, which may lack apiVersion and
// kind.
func MustCreate(t *testing.T, o Engine, gr schema.GroupResource, tree map[string]any) *unstructured.Unstructured {
	t.Helper()
	for _, d := range o.Served() {
		if d.GroupResource() == gr && tree["kind"] == nil {
			tree["kind"], tree["apiVersion"] = d.Kind, schema.GroupVersion{Group: d.Group, Version: d.StorageVersion}.String()
		}
	}
	obj, err := o.Create(context.Background(), gr, &unstructured.Unstructured{Object: tree})
	if err != nil {
		t.Fatalf("create %s: %v", gr, err)
	}
	return obj
}

// MustGet reads an object.
func MustGet(t *testing.T, o Engine, gr schema.GroupResource, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	obj, err := o.Get(context.Background(), gr, namespace, name)
	if err != nil {
		t.Fatalf("get %s %s: %v", gr, name, err)
	}
	return obj
}

// MustChange changes an object through a subresource, against all conflicts.
func MustChange(t *testing.T, o Engine, gr schema.GroupResource, subresource, namespace, name string, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	t.Helper()
	for {
		obj := MustGet(t, o, gr, namespace, name)
		change(obj)
		obj, err := o.Update(context.Background(), gr, subresource, obj)
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil {
			t.Fatalf("update %s %s: %v", gr, name, err)
		}
		return obj
	}
}

// Condition returns status and reason of a condition, "" for one that is not
// there.
func Condition(obj *unstructured.Unstructured, conditionType string) (status, reason, message string) {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == conditionType {
			status, _ = c["status"].(string)
			reason, _ = c["reason"].(string)
			message, _ = c["message"].(string)
		}
	}
	return status, reason, message
}
