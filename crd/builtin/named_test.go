package builtin

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// A device is a volume of the pod that may be one, and is not mounted, too; in the messages
// of kube-apiserver.
func TestDevicesAndVolumes(t *testing.T) {
	def := definitions(t)["pod"]
	const at = `spec.containers[0].volumeDevices[0].name: `
	for volume, want := range map[string]string{
		`"persistentVolumeClaim":{"claimName":"c"}`: "",
		`"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}}`: "",
		`"emptyDir":{}`: at + `Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
	} {
		said := crdtest.Message(crdtest.Creation(t, def, `{"metadata":{"name":"x"},"spec":{"volumes":[{"name":"v",`+volume+`}],"containers":[{"name":"a","image":"i","volumeDevices":[{"name":"v","devicePath":"/d"}]}]}}`))
		if said != want {
			t.Errorf("%s: %q, want %q", volume, said, want)
		}
	}
	said := crdtest.Message(crdtest.Creation(t, def, `{"metadata":{"name":"x"},"spec":{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}],"containers":[{"name":"a","image":"i",
		"volumeDevices":[{"name":"v","devicePath":"/d"}],"volumeMounts":[{"name":"v","mountPath":"/m"}]}]}}`))
	if want := `[spec.containers[0].volumeMounts[0].name: Invalid value: "v": must not already exist in volumeDevices, ` + at + `Invalid value: "v": must not already exist in volumeMounts]`; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}

// A Job's failure policy names containers, and init containers, that its pods have.
func TestContainersOfFailurePolicies(t *testing.T) {
	def := definitions(t)["job"]
	for name, want := range map[string]string{
		"a": "", "b": "",
		"c": `spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "c": must be one of the container or initContainer names in the pod template`,
	} {
		said := crdtest.Message(crdtest.Creation(t, def, `{"metadata":{"name":"x"},"spec":{"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"containerName":"`+name+`","operator":"In","values":[1]}}]},
			"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"i"}],"initContainers":[{"name":"b","image":"i"}]}}}}`))
		if said != want {
			t.Errorf("%s: %q, want %q", name, said, want)
		}
	}
}

// A new StatefulSet's name is a label of DNS; one with dots that is there goes on, and can be
// rid of its finalizers.
func TestNamesOfStatefulSets(t *testing.T) {
	def := definitions(t)["statefulset"]
	body := func(meta string) string {
		return `{"metadata":{` + meta + `},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	}
	for meta, want := range map[string]string{
		`"name":"web"`: "",
		`"name":"a.b"`: `metadata.name: Invalid value: "a.b": must not contain dots`,
		`"name":"` + strings.Repeat("a", 64) + `"`: `metadata.name: Invalid value: "` + strings.Repeat("a", 64) + `": must be no more than 63 characters`,
	} {
		err := crdtest.Creation(t, def, body(meta))
		if said := crdtest.Message(err); said != want || (err == nil) != (want == "") {
			t.Errorf("%s: %q (%v), want %q", meta, said, err, want)
		}
	}
	const there = `"name":"a.b","finalizers":["a.b/c"]`
	if err := crdtest.Change(t, def, "", body(there), body(`"name":"a.b"`)); err != nil {
		t.Error(err)
	}
	said := crdtest.Message(crdtest.Change(t, def, "", body(there), body(`"name":"a.b","labels":{"a b":"c"}`)))
	if strings.Count(said, "metadata.labels") != 1 {
		t.Errorf("%q", said)
	}
}
