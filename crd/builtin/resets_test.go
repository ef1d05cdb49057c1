package builtin

import (
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// What a write leaves as it was is not owned by the writer.
func TestWritesResetWhatTheyCannotChange_SSA05(t *testing.T) {
	defs := definitions(t)
	for _, test := range []struct {
		d, subresource, api, fields string
	}{
		{"namespace", "", "v1", "status"},
		{"namespace", "status", "v1", "spec"},
		{"namespace", "finalize", "v1", "status"},
		{"storageversionmigration", "", "storagemigration.k8s.io/v1", "status"},
		{"storageversionmigration", "status", "storagemigration.k8s.io/v1", "metadata spec"},
	} {
		v := defs[test.d].Versions[0]
		strategy := v.Strategy
		if test.subresource != "" {
			strategy = v.Subresources[test.subresource].Update
		}
		got := strategy.Resets()
		want := fieldpath.NewSet()
		for _, name := range strings.Fields(test.fields) {
			want.Insert(fieldpath.MakePathOrDie(name))
		}
		if len(got) != 1 || got[fieldpath.APIVersion(test.api)] == nil || !got[fieldpath.APIVersion(test.api)].Equals(want) {
			t.Errorf("%s %s resets %v", test.d, test.subresource, got)
		}
		if got[fieldpath.APIVersion(test.api)].Has(fieldpath.MakePathOrDie("data")) {
			t.Errorf("%s resets everything", test.d)
		}
	}
	status := defs["pod"].Versions[0].Subresources["status"].Update.Resets()["v1"]
	want := fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "deletionTimestamp"), fieldpath.MakePathOrDie("metadata", "ownerReferences"))
	if !status.Equals(want) {
		t.Errorf("a Pod's status resets %v", status)
	}
	if got := defs["configmap"].Versions[0].Strategy.Resets(); len(got) != 0 {
		t.Errorf("a ConfigMap resets %v", got)
	}
}
