package builtin

import (
	"testing"

	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What is missing or wrong is said in the words of kube-apiserver 1.36.3, and never by
// the expression that found it.
func TestRefusalsSayNoExpressions(t *testing.T) {
	const one, azure = `"containers":[{"name":"c","image":"i"}]`, `,"volumes":[{"name":"v","azureDisk":{"diskName":"a",`
	defs := definitions(t)
	for _, c := range []struct{ kind, spec, want string }{
		{"service", `"type":"ExternalName"`, "spec.externalName: Required value"},
		{"service", `"ports":[]`, "spec.ports: Required value"},
		{"service", `"ports":[{"port":1},{"port":2,"name":"b"}]`, "spec.ports[0].name: Required value"},
		{"service", `"ports":[{"port":1},{"port":2}]`, "[spec.ports[0].name: Required value, spec.ports[1].name: Required value]"},
		{"service", `"ports":[{"port":1}]`, ""},
		{"persistentvolumeclaim", `"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"-1Gi"}}`, `spec.resources[storage]: Invalid value: "-1Gi": must be greater than zero`},
		{"persistentvolumeclaim", `"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}`, ""},
		{"pod", one + `,"hostPID":true,"shareProcessNamespace":true`, "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"},
		{"pod", `"containers":[{"name":"c","image":" i"}]`, `spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace`},
		{"pod", one + `,"initContainers":[{"name":"d","image":"i\t"}]`, `spec.initContainers[0].image: Invalid value: "i\t": must not have leading or trailing whitespace`},
		{"job", `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":" i"}]}}`, ""},
		{"pod", one + azure + `"diskURI":"x"}}]`, `spec.volumes[0].azureDisk.diskURI: Unsupported value: "x": supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"`},
		{"pod", one + azure + `"kind":"Managed","diskURI":"https://x"}}]`, `spec.volumes[0].azureDisk.diskURI: Unsupported value: "https://x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"`},
		{"pod", one + azure + `"kind":"Managed","diskURI":"/subscriptions/x"}}]`, ""},
		{"pod", one + `,"volumes":[{"name":"v","iscsi":{"targetPortal":"a","iqn":"iqn.2001-04.com.example:a","lun":0,"chapAuthSession":true}}]`, "spec.volumes[0].iscsi.secretRef: Required value"},
		{"pod", one + `,"volumes":[{"name":"v","ephemeral":{}}]`, "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"},
		{"resourceclaim", `"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"c"}}],"constraints":[{}],"config":[{}]}`,
			`[spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set, spec.devices.config[0].opaque: Required value]`},
	} {
		err := crdtest.Creation(t, defs[c.kind], `{"metadata":{"name":"w"},"spec":{`+c.spec+`}}`)
		if got := crdtest.Message(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s %s:\ngot  %v\nwant %s", c.kind, c.spec, err, c.want)
		}
	}
	for _, c := range []struct{ kind, rest, want string }{
		{"endpoints", `"subsets":[{"addresses":[{"ip":"1.2.3.4"}],"ports":[{"port":1,"name":"a"},{"port":2}]}]`, "subsets[0].ports[1].name: Required value"},
		{"priorityclass", `"value":1000000001`, "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
	} {
		err := crdtest.Creation(t, defs[c.kind], `{"metadata":{"name":"w"},`+c.rest+`}`)
		if got := crdtest.Message(err); got != c.want {
			t.Errorf("%s: %v", c.kind, err)
		}
	}
}
