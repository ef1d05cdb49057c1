package gvr

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func definition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"kind":     "CustomResourceDefinition",
		"metadata": map[string]any{"name": "tabs.example.com", "uid": "u", "creationTimestamp": "2026-01-02T03:04:05Z", "deletionTimestamp": "2026-01-02T03:04:06Z"},
		"spec":     map[string]any{"group": "example.com", "names": map[string]any{"plural": "tabs"}, "versions": "not even a list"},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}, map[string]any{"type": "NamesAccepted", "status": "False"}}},
	}}
}

func TestOutline(t *testing.T) {
	d, err := Outline(definition())
	if err != nil || d.Name != "tabs.example.com" || d.UID != "u" || d.Spec.Group != "example.com" || d.Spec.Names.Plural != "tabs" ||
		d.CreationTimestamp.Second() != 5 || d.DeletionTimestamp == nil {
		t.Fatalf("%+v, %v", d, err)
	}
	for condition, want := range map[apiextensionsv1.CustomResourceDefinitionConditionType]bool{
		apiextensionsv1.Established: true, apiextensionsv1.NamesAccepted: false, apiextensionsv1.Terminating: false,
	} {
		if IsTrue(d, condition) != want {
			t.Errorf("%s: %v", condition, !want)
		}
	}
	bad := definition()
	bad.Object["status"] = map[string]any{"conditions": "x"}
	if d, err := Outline(bad); err == nil || d != nil || !strings.Contains(err.Error(), `"tabs.example.com"`) {
		t.Errorf("%v, %v", d, err)
	}
}

// Who keeps outlines keeps no texts of whole definitions.
func TestOutlinesAreSmall(t *testing.T) {
	const n, size = 64, 1 << 20
	kept := make([]*apiextensionsv1.CustomResourceDefinition, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range kept {
		// As the gateway reads objects: all texts are parts of one.
		text := `tabs.example.comu12example.comtabsEstablishedTrue` + strings.Repeat("x", size)
		d := definition()
		d.SetName(text[:16])
		d.SetUID(types.UID(text[16:17]))
		d.SetResourceVersion(text[17:19])
		d.Object["spec"] = map[string]any{"group": text[19:30], "names": map[string]any{"plural": text[30:34]}}
		d.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": text[34:45], "status": text[45:49]}}}
		var err error
		if kept[i], err = Outline(d); err != nil || kept[i].Name != "tabs.example.com" || kept[i].UID != "u" || kept[i].ResourceVersion != "12" || !IsTrue(kept[i], apiextensionsv1.Established) {
			t.Fatalf("%+v, %v", kept[i], err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > n*size/4 {
		t.Errorf("%d outlines take %d bytes", n, grown)
	}
	runtime.KeepAlive(kept)
}

func TestSetStatus(t *testing.T) {
	o := definition()
	if err := SetStatus(o, &apiextensionsv1.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}}); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := unstructured.NestedStringSlice(o.Object, "status", "storedVersions"); len(got) != 1 || got[0] != "v1" {
		t.Errorf("%v", o.Object["status"])
	}
	if err := SetStatus(o, "no struct"); err == nil {
		t.Error("a status that is none was set")
	}
}

func TestSection(t *testing.T) {
	o := definition()
	Section(o, "spec")["group"] = "changed"
	if group, _, _ := unstructured.NestedString(o.Object, "spec", "group"); group != "changed" {
		t.Error("the section is not the object's")
	}
	Section(o, "none")["a"] = "b"
	if _, ok := o.Object["none"]; ok {
		t.Error("a section came into being")
	}
	o.Object["list"] = []any{}
	if s := Section(o, "list"); s == nil || len(s) != 0 {
		t.Errorf("%v", s)
	}
}

func TestShorten(t *testing.T) {
	exact := strings.Repeat("x", maxMessage)
	for text, want := range map[string]string{"": "", "short": "short", exact: exact, exact + "y": exact + "..."} {
		if got := Shorten(text); got != want {
			t.Errorf("%d bytes became %d", len(text), len(got))
		}
	}
	if got := Shorten(exact[1:] + "ä"); !utf8.ValidString(got) || len(got) != maxMessage-1+3 {
		t.Errorf("a character was cut: %d bytes", len(got))
	}
	if got := Shorten(`Get "https://user:secret@host/?secret": EOF`); got != `Get "https://...@host/?...": EOF` {
		t.Error(got)
	}
}

func TestIgnoreNotFound(t *testing.T) {
	other := errors.New("other")
	if IgnoreNotFound(nil) != nil || IgnoreNotFound(apierrors.NewNotFound(Modules, "x")) != nil || IgnoreNotFound(other) != other {
		t.Error("not what it says")
	}
}
