package extend_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// A volume that an attachment holds itself is a volume of a driver and nothing that is
// bound. The messages are kube-apiserver 1.36's, whose order is not compared.
func TestVolumesOfAttachments(t *testing.T) {
	const (
		inline = ": Forbidden: may not be specified in the context of inline volumes"
		driver = `"csi":{"driver":"d","volumeHandle":"h"}`
		once   = `"accessModes":["ReadWriteOnce"],`
	)
	d := builtintest.Definitions(t)["volumeattachment"]
	for spec, want := range map[string][]string{
		once + driver: nil,
		once + driver + `,"volumeMode":"Filesystem","persistentVolumeReclaimPolicy":"Retain","mountOptions":["a"],"storageClassName":"","capacity":{}`: nil,
		once + driver + `,"capacity":{"storage":"1Gi"}`:                           {"capacity" + inline},
		once + driver + `,"claimRef":{"name":"x"},"storageClassName":"x"`:         {"claimRef" + inline, "storageClassName" + inline},
		once + driver + `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{}]}}`: {"nodeAffinity" + inline},
		once + driver + `,"volumeMode":"Block"`:                                   {"volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes"},
		once + driver + `,"persistentVolumeReclaimPolicy":"Delete"`:               {"persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes"},
		once + `"hostPath":{"path":"/x"}`:                                         {"csi: Required value: has to be specified in the context of inline volumes"},
		once + driver + `,"hostPath":{"path":"/x"}`:                               {"csi: Forbidden: may not specify more than 1 volume type"},
		once + `"csi":{"driver":"","volumeHandle":""}`:                            {"csi.driver: Required value", "csi.volumeHandle: Required value"},
		driver:                            {"accessModes: Required value"},
		`"accessModes":["Odd"],` + driver: {`accessModes: Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`},
		`"accessModes":["ReadWriteOnce","ReadWriteOncePod"],` + driver: {"accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"},
		`"mountOptions":[]`: {"csi: Required value: has to be specified in the context of inline volumes", "accessModes: Required value", ": Required value: must specify a volume type"},
	} {
		err := crdtest.Creation(t, d, `{"metadata":{"name":"x"},"spec":{"attacher":"a.example.com","nodeName":"n","source":{"inlineVolumeSpec":{`+spec+`}}}}`)
		for i, at := range want {
			if at[0] != ':' {
				at = "." + at
			}
			want[i] = "spec.source.inlineVolumeSpec" + at
		}
		got, all := said(crdtest.Message(err)), said(strings.Join(want, ", "))
		if (err == nil) != (want == nil) || !slices.Equal(got, all) {
			t.Errorf("%s:\ngot  %q\nwant %q", spec, got, all)
		}
	}
}

// An attachment names a volume or holds one; a name that is empty is one.
func TestSourcesOfAttachments(t *testing.T) {
	const (
		held    = `"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"h"}}`
		exactly = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	)
	d := builtintest.Definitions(t)["volumeattachment"]
	for source, want := range map[string]string{
		held: "", `"persistentVolumeName":"pv"`: "",
		``:                                    "spec.source: Required value: " + exactly,
		`"persistentVolumeName":"pv",` + held: "spec.source: Forbidden: " + exactly,
		`"persistentVolumeName":"",` + held:   "spec.source: Forbidden: " + exactly,
		`"persistentVolumeName":""`:           "spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName",
	} {
		err := crdtest.Creation(t, d, `{"metadata":{"name":"x"},"spec":{"attacher":"a.example.com","nodeName":"n","source":{`+source+`}}}`)
		if got := crdtest.Message(err); (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
}
