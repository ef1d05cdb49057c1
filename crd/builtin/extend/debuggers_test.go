package extend_test

import (
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What ephemeral containers may not say, and whom they may not be called like, in the words of
// kube-apiserver 1.36.3.
func TestEphemeralContainers(t *testing.T) {
	const (
		bare = `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","emptyDir":{}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}}]`
		none = `: Forbidden: cannot be set for an Ephemeral Container`
		at   = `spec.ephemeralContainers[0].`
	)
	defs := builtintest.Definitions(t)
	for container, want := range map[string]string{
		`"name":"e"},{"name":"e","image":"i"`: `spec.ephemeralContainers[1].name: Duplicate value: "e"`,
		`"name":"e"},{"name":"f","image":"i"`: ``,
		`"name":"e","restartPolicy":"Always"`: at + `restartPolicy` + none,
		`"name":"e","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}]`: at + `restartPolicyRules` + none,
		`"name":"e","resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"}]`:                  at + `resizePolicy` + none,
		`"name":"e","ports":[{"containerPort":1}]`:                                                          at + `ports` + none,
		`"name":"e","resources":{}`: ``,
		`"name":"e","volumeMounts":[{"name":"v","mountPath":"/a","subPathExpr":"a"}]`:                  at + `volumeMounts[0].subPathExpr` + none,
		`"name":"e","volumeMounts":[{"name":"v","mountPath":"/a","mountPropagation":"Bidirectional"}]`: at + `volumeMounts[0].mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`,
		`"name":"e","volumeDevices":[{"name":"b","devicePath":"/a"}]`:                                  ``,
		`"name":"e","volumeDevices":[{"name":"b","devicePath":"/a"},{"name":"b","devicePath":"/b"}]`:   at + `volumeDevices[1].name: Invalid value: "b": must be unique`,
		`"name":"e","volumeDevices":[{"name":"v","devicePath":"/a"}]`:                                  at + `volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
		`"name":"e","volumeDevices":[{"name":"z","devicePath":"/a"}]`:                                  at + `volumeDevices[0].name: Not found: "z"`,
		`"name":"e","volumeDevices":[{"name":"b","devicePath":"/a"}],"volumeMounts":[{"name":"b","mountPath":"/a"}]`: `[` + at + `volumeMounts[0].name: Invalid value: "b": must not already exist in volumeDevices, ` +
			at + `volumeMounts[0].mountPath: Invalid value: "/a": must not already exist as a path in volumeDevices, ` +
			at + `volumeDevices[0].name: Invalid value: "b": must not already exist in volumeMounts, ` +
			at + `volumeDevices[0].devicePath: Invalid value: "/a": must not already exist as a path in volumeMounts]`,
	} {
		err := crdtest.Change(t, defs["pod"], "ephemeralcontainers", bare+`}}`, bare+`,"ephemeralContainers":[{"image":"i",`+container+`}]}}`)
		if got := crdtest.Message(err); !slices.Equal(said(got), said(want)) || (err == nil) != (want == "") {
			t.Errorf("%s: %s (%v), want %s", container, got, err, want)
		}
	}
}
