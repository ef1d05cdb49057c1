package plan

import (
	"reflect"
	"testing"

	storagev1 "k8s.io/api/storage/v1"
)

// Of a field that is not judged beside another one nothing is told, nor of what is below.
func TestFieldsThatAreNotJudgedBesideOthers(t *testing.T) {
	p, err := NewLibrary(nil).Plan(reflect.TypeFor[*storagev1.VolumeAttachment](), Additions{
		"spec.source.inlineVolumeSpec":          {When: "!persistentVolumeName", Rules: []Rule{{Rule: "false", Message: "no"}}},
		"spec.source.inlineVolumeSpec.nfs.path": {Required: true},
		"spec.nodeName":                         {When: "attacher=a", Rules: []Rule{{Rule: "false", Message: "no"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for obj, want := range map[string]int{
		`{spec: {source: {inlineVolumeSpec: {nfs: {}}}}}`:                           2,
		`{spec: {source: {inlineVolumeSpec: {nfs: {}}, persistentVolumeName: ""}}}`: 0,
		`{spec: {nodeName: n, attacher: a}}`:                                        1,
		`{spec: {nodeName: n, attacher: b}}`:                                        0,
		`{spec: {nodeName: n}}`:                                                     0,
	} {
		if errs := p.Validate(t.Context(), parsed(t, obj), nil); len(errs) != want {
			t.Errorf("%s: %v, want %d", obj, errs, want)
		}
	}
}
