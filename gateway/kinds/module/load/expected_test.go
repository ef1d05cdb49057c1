package load_test

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// says is the condition Compiled, and Ready, after a while.
func (w *moduleWorld) says(t *testing.T, after time.Duration) string {
	t.Helper()
	<-time.After(after)
	synctest.Wait()
	obj := controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")
	c, reason, message := controllertest.Condition(obj, "Compiled")
	r, _, _ := controllertest.Condition(obj, "Ready")
	return c + " " + r + " " + reason + ": " + message
}

// What is on its way is missing only after a while, for whichever gateway; content
// that served is missed at once.
func TestModule_whatIsExpectedIsNoFailureForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newModuleWorld()
		_, stop := w.start(t)
		check := func(after time.Duration, want string) {
			t.Helper()
			if got := w.says(t, after); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		createModule(t, w, map[string]any{"source": map[string]any{"upload": map[string]any{}}})
		const missing = " ContentMissing: upload it with: wasmgate module push tabs file.wasm"
		check(0, "Unknown Unknown"+missing)
		check(59*time.Second, "Unknown Unknown"+missing)
		check(2*time.Second, "False False"+missing)
		stop()
		_, stop = w.start(t)
		changeModule(t, w, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"look": "again"}) })
		check(0, "False False"+missing)

		if err := w.content.Put(t.Context(), []byte("good")); err != nil {
			t.Fatal(err)
		}
		ask := func(text string) {
			changeModule(t, w, func(obj *unstructured.Unstructured) {
				obj.SetAnnotations(map[string]string{module.ContentAnnotation: digest(text)})
			})
		}
		ask("good")
		check(0, "True True Compiled: ABI 1, hooks: wasmgate_convert")
		ask("good 2") // announced
		absent := " ContentMissing: content " + digest("good 2") + " is not in the store; upload it with: wasmgate module push tabs file.wasm"
		check(0, "Unknown True"+absent)
		check(61*time.Second, "False True"+absent)
		ask("good")
		check(0, "True True Compiled: ABI 1, hooks: wasmgate_convert")
		stop()
		w.content.blobs = map[string][]byte{}
		_, stop = w.start(t)
		check(0, "False False ContentMissing: content "+digest("good")+" is not in the store; upload it with: wasmgate module push tabs file.wasm")
		stop()
	})
}

// Of an image that does not come the conditions say what that of the image does.
func TestModule_anImageThatDoesNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newModuleWorld()
		_, stop := w.start(t)
		defer stop()
		createModule(t, w, map[string]any{"source": map[string]any{"oci": map[string]any{"image": "r/tabs:v1"}}})
		if got := w.says(t, 0); got != "Unknown Unknown ContentMissing: r/tabs:v1 was not pulled yet" {
			t.Error(got)
		}
		pulled := func(message string) {
			controllertest.MustChange(t, w.Objects, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
				all, err := gvr.Conditions(obj)
				if err != nil {
					t.Error(err)
				}
				meta.SetStatusCondition(&all, metav1.Condition{Type: module.Pulled, Status: metav1.ConditionFalse, Reason: "ImageNotFound", Message: message})
				if err := gvr.SetConditions(obj, all); err != nil {
					t.Error(err)
				}
			})
		}
		pulled("r/tabs:v0: not found") // of the image before
		if got := w.says(t, 0); got != "Unknown Unknown ContentMissing: r/tabs:v1 was not pulled yet" {
			t.Error(got)
		}
		pulled("r/tabs:v1: not found")
		if got := w.says(t, 0); got != "False False ImageNotFound: r/tabs:v1: not found" {
			t.Error(got)
		}
	})
}
