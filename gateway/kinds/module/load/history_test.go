package load_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// history is the digests in status.revisions, as the texts that have them.
func history(t *testing.T, w *moduleWorld, texts ...string) string {
	t.Helper()
	names := map[string]string{}
	for _, text := range texts {
		names[digest(text)] = text
	}
	obj := controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "revisions")
	var out []string
	for _, r := range list {
		r := r.(map[string]any)
		text := names[r["digest"].(string)]
		if r["size"] != int64(len(text)) || r["since"] == "" {
			t.Errorf("%q is remembered as %v", text, r)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestContentsThatServedAreRemembered(t *testing.T) {
	w := newModuleWorld()
	_, stop := w.start(t)
	createModule(t, w, map[string]any{"source": map[string]any{"upload": map[string]any{}}})
	all := []string{"r1", "r22", "r333", "r4444", "r55555", "r666666", "bad"}
	upload := func(text string) {
		if err := w.content.Put(t.Context(), []byte(text)); err != nil {
			t.Fatal(err)
		}
		changeModule(t, w, func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{module.ContentAnnotation: digest(text)})
		})
		if text == "bad" {
			w.expect(t, "False MissingExport", "True PreviousRevision", digest("r666666"))
			return
		}
		w.expect(t, "True Compiled", "True Serving", digest(text))
	}
	for i, want := range []string{"r1", "r22 r1", "r333 r22 r1", "r4444 r333 r22 r1", "r55555 r4444 r333 r22 r1", "r666666 r55555 r4444 r333 r22", "r666666 r55555 r4444 r333 r22"} {
		upload(all[i])
		if got := history(t, w, all...); got != want {
			t.Errorf("after %s: %s, want %s", all[i], got, want)
		}
	}
	upload("r4444") // back
	if got, want := history(t, w, all...), "r4444 r666666 r55555 r333 r22"; got != want {
		t.Errorf("after a way back: %s, want %s", got, want)
	}
	changeModule(t, w, func(obj *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(obj.Object, int64(2), "spec", "revisionHistoryLimit")
	})
	controllertest.Eventually(t, w.Objects, "a shorter history", func() bool { return history(t, w, all...) == "r4444 r666666" })
	stop()
	w.start(t)
	upload("r1")
	if got, want := history(t, w, all...), "r1 r4444"; got != want {
		t.Errorf("after a restart: %s, want %s", got, want)
	}
}

func TestAPinnedDigestIsWhatServes(t *testing.T) {
	w := newModuleWorld()
	w.start(t)
	for _, text := range []string{"one", "two"} {
		if err := w.content.Put(t.Context(), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	pin := func(text string) map[string]any {
		return map[string]any{"source": map[string]any{"upload": map[string]any{"digest": digest(text)}}}
	}
	createModule(t, w, pin("one"))
	w.expect(t, "True Compiled", "True Serving", digest("one"))
	changeModule(t, w, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{module.ContentAnnotation: digest("two")})
	})
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = pin("three") })
	obj := w.expect(t, "Unknown ContentMissing", "True PreviousRevision", digest("one"))
	if _, _, message := controllertest.Condition(obj, "Compiled"); message != fmt.Sprintf("content %s is not in the store; upload it with: wasmgate module push tabs file.wasm", digest("three")) {
		t.Error(message)
	}
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = pin("two") })
	w.expect(t, "True Compiled", "True Serving", digest("two"))
	for upload, want := range map[string]any{"": nil, "d": map[string]any{"digest": "d"}} {
		if got := module.PinnedDigest(want); got != upload {
			t.Errorf("%v pins %q", want, got)
		}
	}
}

func TestInlineContentThatCannotBeKeptServes(t *testing.T) {
	w := newModuleWorld()
	w.start(t)
	w.content.full = true
	createModule(t, w, inlineSpec("good"))
	obj := w.expect(t, "True Compiled", "True Serving", digest("good"))
	if _, _, message := controllertest.Condition(obj, "Ready"); message != digest("good")+" serves, and is not kept beside the object: put: there is no room for the content" {
		t.Error(message)
	}
	w.content.mu.Lock()
	w.content.full = false
	w.content.mu.Unlock()
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"look": "again"}) })
	controllertest.Eventually(t, w.Objects, "it is kept", func() bool {
		_, _, message := controllertest.Condition(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs"), "Ready")
		return message == digest("good")+" serves"
	})
}
