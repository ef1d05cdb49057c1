package extend_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// A claim that was stored when its source had one field reads as one with both, so that
// writing it again changes nothing that may not change.
func TestSourcesOfClaimsOfLongAgo(t *testing.T) {
	complete := extend.Of(schema.GroupResource{Resource: "persistentvolumeclaims"}).Defaults
	for stored, want := range map[string]string{
		`{"dataSource":{"kind":"PersistentVolumeClaim","name":"a"}}`:                              `{"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"a"}}`,
		`{"dataSource":{"kind":"Odd","name":"a"}}`:                                                `{"dataSource":{"kind":"Odd","name":"a"}}`,
		`{"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"B"}}`: `{"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"B"}}`,
		`{}`: `{}`,
	} {
		var spec map[string]any
		if err := json.Unmarshal([]byte(stored), &spec); err != nil {
			t.Fatal(err)
		}
		complete(map[string]any{"spec": spec})
		if got, _ := json.Marshal(spec); string(got) != want {
			t.Errorf("%s: %s", stored, got)
		}
	}
	complete(map[string]any{})
}

// A claim's class may be said in the old way and then in the new one, and is not changed; the
// class of attributes may be, but not given up once the volume has one. The words are those of
// kube-apiserver 1.36.3, which adds to some what differs.
func TestClassesOfClaims(t *testing.T) {
	d := builtintest.Definitions(t)["persistentvolumeclaim"]
	const (
		noted, other   = `"volume.beta.kubernetes.io/storage-class":"a"`, `"volume.beta.kubernetes.io/storage-class":"b"`
		inA, inB       = `,"storageClassName":"a"`, `,"storageClassName":"b"`
		gold, tin      = `,"volumeAttributesClassName":"gold"`, `,"volumeAttributesClassName":"tin"`
		none           = `,"volumeAttributesClassName":""`
		bound, applied = `{"phase":"Bound"}`, `{"phase":"Bound","currentVolumeAttributesClassName":"gold"}`
		fixed          = `spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims`
		notes          = `metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: "`
		fixedNote      = `": field is immutable`
		attributes     = `spec.volumeAttributesClassName: Forbidden: update to `
		current        = ` is forbidden when status.currentVolumeAttributesClassName is not nil`
	)
	for name, c := range map[string]struct{ note, was, status, newNote, now, want string }{
		"none, then one":            {"", "", "{}", "", inA, ""},
		"one, then another":         {"", inA, "{}", "", inB, fixed},
		"one, then none":            {"", inA, "{}", "", "", fixed},
		"noted, then said, too":     {noted, "", "{}", noted, inA, ""},
		"noted, then only said":     {noted, "", "{}", "", inA, ""},
		"noted, then another said":  {noted, "", "{}", noted, inB, fixed},
		"noted, another, both":      {noted, "", "{}", other, inB, `[` + notes + `b` + fixedNote + `, ` + fixed + `]`},
		"noted, another said alone": {noted, "", "{}", "", inB, `[` + notes + fixedNote + `, ` + fixed + `]`},
		"noted, another noted":      {noted, "", "{}", other, inA, notes + `b` + fixedNote},
		"noted, then not":           {noted, "", "{}", "", "", notes + fixedNote},
		"noted and said, then not":  {noted, inA, "{}", "", inA, notes + fixedNote},
		"said, then noted":          {"", inA, "{}", noted, inA, notes + `a` + fixedNote},
		"attributes, not bound":     {"", gold, "{}", "", tin, fixed},
		"attributes, bound":         {"", gold, bound, "", tin, ""},
		"given up":                  {"", gold, bound, "", "", ""},
		"others, applied":           {"", gold, applied, "", tin, ""},
		"given up, applied":         {"", gold, applied, "", "", attributes + `nil` + current},
		"made empty, applied":       {"", gold, applied, "", none, attributes + `empty string` + current},
		"there were none, applied":  {"", "", applied, "", "", ""},
		"another mode":              {"", "", "{}", "", `,"volumeMode":"Block"`, `[` + fixed + `, volumeMode: Invalid value: "Block": field is immutable]`},
	} {
		claim := func(note, spec string) string {
			return `{"metadata":{"name":"x","annotations":{` + note + `}},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}` + spec + `},"status":` + c.status + `}`
		}
		err := crdtest.Change(t, d, "", claim(c.note, c.was), claim(c.newNote, c.now))
		if got := crdtest.Message(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %s (%v), want %s", name, got, err, c.want)
		}
	}
}
