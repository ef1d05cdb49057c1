package extend_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
)

// What nodes say that they have are names in their order, each once.
func TestFeaturesOfNodes(t *testing.T) {
	defs := builtintest.Definitions(t)
	for _, c := range []asked{
		{"node", `{"metadata":{"name":"x"},"status":{"declaredFeatures":["A"]}}`, ``},
		{"node", `{"metadata":{"name":"x"},"status":{"declaredFeatures":["a"]}}`, `status.declaredFeatures[0]: Invalid value: "a": invalid feature name "a": must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`},
		{"node", `{"metadata":{"name":"x"},"status":{"declaredFeatures":["A","A"]}}`, `status.declaredFeatures[1]: Duplicate value: "A"`},
		{"node", `{"metadata":{"name":"x"},"status":{"declaredFeatures":["B","A"]}}`, `status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically`},
		{"node", `{"metadata":{"name":"x"},"status":{"declaredFeatures":["Aa/b"]}}`, ``},
		{"node", `{"metadata":{"name":"x"},"status":{"declaredFeatures":["A/"]}}`, `status.declaredFeatures[0]: Invalid value: "A/": invalid feature name "A/": must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`},
		{"node", `{"metadata":{"name":"x"},"status":{"declaredFeatures":["A-b"]}}`, `status.declaredFeatures[0]: Invalid value: "A-b": invalid feature name "A-b": must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`},
		{"node", `{"metadata":{"name":"x"},"status":{"declaredFeatures":["` + strings.Repeat("A", 254) + `"]}}`, `status.declaredFeatures[0]: Invalid value: "` + strings.Repeat("A", 254) + `": invalid feature name "` + strings.Repeat("A", 254) + `": must be no more than 253 characters`},
		{"node", `{"metadata":{"name":"x"},"status":{"declaredFeatures":["` + strings.Repeat("A", 253) + `"]}}`, ``},
		{"node", `{"metadata":{"name":"x"},"status":{"declaredFeatures":["AB/C1/d"]}}`, ``},
		{"node", `{"metadata":{"name":"x"},"status":{"declaredFeatures":["A","B"]}}`, ``},
	} {
		c.ask(t, defs)
	}
}

// What a pod says of its resources as a whole is enough for all its containers, in templates, too.
func TestResourcesOfWholePods(t *testing.T) {
	defs := builtintest.Definitions(t)
	for _, c := range []asked{
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}],"resources":{"requests":{"cpu":"1"}},"initContainers":[{"name":"s","image":"i","resources":{"requests":{"cpu":"1"}},"restartPolicy":"Always"}]}}`, `spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}],"resources":{"requests":{"cpu":"1"}},"initContainers":[{"name":"s","image":"i","resources":{"requests":{"cpu":"2"}}}]}}`, `spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}],"resources":{"requests":{"cpu":"1"}}}}`, `spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"2"}}}],"resources":{"limits":{"cpu":"1"}}}}`, `[spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1, spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1]`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"hugepages-2Mi":"2Mi","cpu":"1"}}},{"name":"d","image":"i","resources":{"limits":{"hugepages-2Mi":"2Mi","cpu":"1"}}}],"resources":{"limits":{"hugepages-2Mi":"2Mi","cpu":"1"}}}}`, `[spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1, spec.resources.requests[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container requests of 4Mi, spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi]`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"resources":{"limits":{"cpu":"1"}},"os":{"name":"windows"}}}`, `spec.resources: Forbidden: may not be set for a windows pod`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"resources":{},"os":{"name":"windows"}}}`, `spec.resources: Forbidden: may not be set for a windows pod`},
		{"podtemplate", `{"metadata":{"name":"x"},"template":{"metadata":{},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}],"resources":{"requests":{"cpu":"1"}},"initContainers":[{"name":"s","image":"i","resources":{"requests":{"cpu":"1"}},"restartPolicy":"Always"}]}}}`, `template.spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2`},
		{"podtemplate", `{"metadata":{"name":"x"},"template":{"metadata":{},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}],"resources":{"requests":{"cpu":"1"}},"initContainers":[{"name":"s","image":"i","resources":{"requests":{"cpu":"2"}}}]}}}`, `template.spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2`},
		{"podtemplate", `{"metadata":{"name":"x"},"template":{"metadata":{},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}],"resources":{"requests":{"cpu":"1"}}}}}`, `template.spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2`},
		{"podtemplate", `{"metadata":{"name":"x"},"template":{"metadata":{},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"2"}}}],"resources":{"limits":{"cpu":"1"}}}}}`, `template.spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1`},
		{"podtemplate", `{"metadata":{"name":"x"},"template":{"metadata":{},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"hugepages-2Mi":"2Mi","cpu":"1"}}},{"name":"d","image":"i","resources":{"limits":{"hugepages-2Mi":"2Mi","cpu":"1"}}}],"resources":{"limits":{"hugepages-2Mi":"2Mi","cpu":"1"}}}}}`, `template.spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi`},
		{"podtemplate", `{"metadata":{"name":"x"},"template":{"metadata":{},"spec":{"containers":[{"name":"c","image":"i"}],"resources":{"limits":{"cpu":"1"}},"os":{"name":"windows"}}}}`, `template.spec.resources: Forbidden: may not be set for a windows pod`},
		{"podtemplate", `{"metadata":{"name":"x"},"template":{"metadata":{},"spec":{"containers":[{"name":"c","image":"i"}],"resources":{},"os":{"name":"windows"}}}}`, `template.spec.resources: Forbidden: may not be set for a windows pod`},
		{"podtemplate", `{"metadata":{"name":"x"},"template":{"metadata":{},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}],"resources":{"requests":{"cpu":"4"}},"overhead":{"cpu":"9"}}}}`, ``},
	} {
		c.ask(t, defs)
	}
}

// What a pod says in one place has to fit what it says in another, and only that.
func TestWhatPodsSayOfOneThingInTwoPlaces(t *testing.T) {
	defs := builtintest.Definitions(t)
	for _, c := range []asked{
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"n","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"a.env","key":"k"}}}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}]}}`, ``},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"n","valueFrom":{"fileKeyRef":{"volumeName":"z","path":"a.env","key":"k"}}}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}]}}`, `spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: "z"`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"n","valueFrom":{"fileKeyRef":{"volumeName":"m","path":"a.env","key":"k"}}}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}]}}`, `spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "m": referenced volume must be of type emptyDir`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"n","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"a.env","key":"a=b"}}}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}]}}`, `spec.containers[0].env[0].valueFrom.fileKeyRef.key: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"n","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"a.env","key":"1 a"}}}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}]}}`, ``},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"n","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"/a.env","key":"k"}}}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}]}}`, ``},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"n","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"../a","key":"k"}}}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}]}}`, `spec.containers[0].env[0].valueFrom.fileKeyRef.path: Invalid value: "../a": must not contain '..'`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"n","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"..a","key":"k"}}}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}]}}`, ``},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"n","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"","key":""}}}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}]}}`, `[spec.containers[0].env[0].valueFrom.fileKeyRef.key: Required value, spec.containers[0].env[0].valueFrom.fileKeyRef.path: Required value]`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","volumeDevices":[{"name":"b","devicePath":"/a"}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}],"hostUsers":false}}`, "spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false"},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","volumeDevices":[{"name":"b","devicePath":"/a"},{"name":"b2","devicePath":"/a"}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}]}}`, `spec.containers[0].volumeDevices[1].devicePath: Invalid value: "/a": must be unique`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","volumeDevices":[{"name":"b","devicePath":"/a"}],"volumeMounts":[{"name":"v","mountPath":"/a"}]}],"volumes":[{"name":"v","emptyDir":{}},{"name":"m","configMap":{"name":"m"}},{"name":"b","persistentVolumeClaim":{"claimName":"b"}},{"name":"b2","persistentVolumeClaim":{"claimName":"b2"}}]}}`, `[spec.containers[0].volumeMounts[0].mountPath: Invalid value: "/a": must not already exist as a path in volumeDevices, spec.containers[0].volumeDevices[0].devicePath: Invalid value: "/a": must not already exist as a path in volumeMounts]`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"e","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}}},{"name":"p","persistentVolumeClaim":{"claimName":"x-e"}}]}}`, `spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "x-e": must not reference a PVC that gets created for an ephemeral volume`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"hostnameOverride":""}}`, `spec.hostnameOverride: Invalid value: "": ` + notSubdomain},
		{"pod", `{"metadata":{"name":"x","annotations":{"controller.kubernetes.io/pod-deletion-cost":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, `metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "x": must be a 32bit integer`},
		{"pod", `{"metadata":{"name":"x","annotations":{"controller.kubernetes.io/pod-deletion-cost":"01"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, `metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "01": must be a 32bit integer`},
		{"pod", `{"metadata":{"name":"x","annotations":{"controller.kubernetes.io/pod-deletion-cost":"-1"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, ``},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"os":{"name":"windows"},"hostUsers":false}}`, `spec.hostUsers: Forbidden: cannot be set for a windows pod`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","securityContext":{"windowsOptions":{"runAsUserName":"a\\b\\c"}}}],"os":{"name":"windows"}}}`, `spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a\\b\\c": runAsUserName cannot contain more than one backslash`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","securityContext":{"windowsOptions":{"runAsUserName":"a/b"}}}],"os":{"name":"windows"}}}`, `spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "a/b": runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","securityContext":{"windowsOptions":{"runAsUserName":"` + strings.Repeat("A", 105) + `"}}}],"os":{"name":"windows"}}}`, `spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "` + strings.Repeat("A", 105) + `": runAsUserName's User length must not be longer than 104 characters`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","securityContext":{"windowsOptions":{"runAsUserName":"ContainerUser"}}}],"os":{"name":"windows"}}}`, ``},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","securityContext":{"windowsOptions":{"runAsUserName":"x"}}}],"os":{"name":"linux"}}}`, `spec.containers[0].securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","securityContext":{"windowsOptions":{"hostProcess":false}}}],"os":{"name":"windows"},"securityContext":{"windowsOptions":{"hostProcess":true}},"hostNetwork":true}}`, `spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"hostNetwork":true,"initContainers":[{"name":"i","image":"i","ports":[{"containerPort":1,"hostPort":2}]}]}}`, ``},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":1,"hostPort":2}]}],"hostNetwork":true}}`, "spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true"},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","image":{}}]}}`, `spec.volumes[0].image.reference: Required value`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"securityContext":{"seccompProfile":{"type":"Localhost","localhostProfile":"..x"}}}}`, ``},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"securityContext":{"seccompProfile":{"type":"Localhost","localhostProfile":"../x"}}}}`, `spec.securityContext.seccompProfile.localhostProfile: Invalid value: "../x": must not contain '..'`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"securityContext":{"seccompProfile":{"type":"Localhost","localhostProfile":"/x"}}}}`, `spec.securityContext.seccompProfile.localhostProfile: Invalid value: "/x": must be a relative path`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"securityContext":{"seccompProfile":{"type":"Localhost","localhostProfile":"a/../b"}}}}`, `spec.securityContext.seccompProfile.localhostProfile: Invalid value: "a/../b": must not contain '..'`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","envFrom":[{"configMapRef":{"name":"a-"}},{"secretRef":{"name":"a-"}}]}]}}`, ``},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"x","valueFrom":{"configMapKeyRef":{"name":"a-","key":"k"}}},{"name":"y","valueFrom":{"secretKeyRef":{"name":"a-","key":"k"}}}]}]}}`, `[spec.containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: "a-": ` + notSubdomain + `, spec.containers[0].env[1].valueFrom.secretKeyRef.name: Invalid value: "a-": ` + notSubdomain + `]`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","envFrom":[{"configMapRef":{"name":"-a"}},{"secretRef":{"name":"-a"}}]}]}}`, `[spec.containers[0].envFrom[0].configMapRef.name: Invalid value: "-a": ` + notSubdomain + `, spec.containers[0].envFrom[1].secretRef.name: Invalid value: "-a": ` + notSubdomain + `]`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"x","valueFrom":{"configMapKeyRef":{"name":"-a","key":"k"}}},{"name":"y","valueFrom":{"secretKeyRef":{"name":"-a","key":"k"}}}]}]}}`, `[spec.containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: "-a": ` + notSubdomain + `, spec.containers[0].env[1].valueFrom.secretKeyRef.name: Invalid value: "-a": ` + notSubdomain + `]`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","envFrom":[{"configMapRef":{"name":"a."}},{"secretRef":{"name":"a."}}]}]}}`, `[spec.containers[0].envFrom[0].configMapRef.name: Invalid value: "a.": ` + notSubdomain + `, spec.containers[0].envFrom[1].secretRef.name: Invalid value: "a.": ` + notSubdomain + `]`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"x","valueFrom":{"configMapKeyRef":{"name":"a.","key":"k"}}},{"name":"y","valueFrom":{"secretKeyRef":{"name":"a.","key":"k"}}}]}]}}`, `[spec.containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: "a.": ` + notSubdomain + `, spec.containers[0].env[1].valueFrom.secretKeyRef.name: Invalid value: "a.": ` + notSubdomain + `]`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","envFrom":[{"configMapRef":{"name":"A"}},{"secretRef":{"name":"A"}}]}]}}`, `[spec.containers[0].envFrom[0].configMapRef.name: Invalid value: "A": ` + notSubdomain + `, spec.containers[0].envFrom[1].secretRef.name: Invalid value: "A": ` + notSubdomain + `]`},
		{"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"x","valueFrom":{"configMapKeyRef":{"name":"A","key":"k"}}},{"name":"y","valueFrom":{"secretKeyRef":{"name":"A","key":"k"}}}]}]}}`, `[spec.containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: "A": ` + notSubdomain + `, spec.containers[0].env[1].valueFrom.secretKeyRef.name: Invalid value: "A": ` + notSubdomain + `]`},
	} {
		c.ask(t, defs)
	}
}

// What templates, slices, revisions and jobs of a time may say.
func TestWhatMayBeSaidOfPodsLater(t *testing.T) {
	defs := builtintest.Definitions(t)
	for _, c := range []asked{
		{"statefulset", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"hostname":"A_"}},"serviceName":"s"}}`, ``},
		{"statefulset", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"subdomain":"A_"}},"serviceName":"s"}}`, ``},
		{"statefulset", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"hostname":"A_","subdomain":"B_"}},"serviceName":"s"}}`, ``},
		{"statefulset", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","image":{}}]}},"serviceName":"s"}}`, ``},
		{"statefulset", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","image":{"reference":""}}]}},"serviceName":"s"}}`, ``},
		{"statefulset", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"A_"}},"serviceName":"s"}}`, `spec.template.spec.nodeName: Invalid value: "A_": ` + notSubdomain},
		{"deployment", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"hostname":"A_"}}}}`, `spec.template.spec.hostname: Invalid value: "A_": ` + notLabel},
		{"deployment", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"subdomain":"A_"}}}}`, `spec.template.spec.subdomain: Invalid value: "A_": ` + notLabel},
		{"deployment", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"hostname":"A_","subdomain":"B_"}}}}`, `[spec.template.spec.hostname: Invalid value: "A_": ` + notLabel + `, spec.template.spec.subdomain: Invalid value: "B_": ` + notLabel + `]`},
		{"deployment", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","image":{}}]}}}}`, ``},
		{"deployment", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","image":{"reference":""}}]}}}}`, ``},
		{"deployment", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"A_"}}}}`, `spec.template.spec.nodeName: Invalid value: "A_": ` + notSubdomain},
		{"endpointslice", `{"metadata":{"name":"x"},"addressType":"FQDN","ports":[],"endpoints":[{"addresses":["a.b."]}]}`, ``},
		{"endpointslice", `{"metadata":{"name":"x"},"addressType":"FQDN","ports":[],"endpoints":[{"addresses":["a.b"]}]}`, ``},
		{"endpointslice", `{"metadata":{"name":"x"},"addressType":"FQDN","ports":[],"endpoints":[{"addresses":["a"]}]}`, `endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots`},
		{"controllerrevision", `{"metadata":{"name":"x"},"revision":1,"data":"x"}`, `data: Required value: data must be a valid JSON object`},
		{"controllerrevision", `{"metadata":{"name":"x"},"revision":1,"data":5}`, `data: Required value: data must be a valid JSON object`},
		{"controllerrevision", `{"metadata":{"name":"x"},"revision":1,"data":[1]}`, `data: Required value: data must be a valid JSON object`},
		{"controllerrevision", `{"metadata":{"name":"x"},"revision":1,"data":null}`, `data: Required value: data is mandatory`},
		{"controllerrevision", `{"metadata":{"name":"x"},"revision":1,"data":{"a":1}}`, ``},
		{"cronjob", `{"metadata":{"name":"x"},"spec":{"schedule":"TZ=UTC 0 * * * *","jobTemplate":{"metadata":{},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}},"timeZone":"Etc/UTC"}}`, `spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`},
		{"cronjob", `{"metadata":{"name":"x"},"spec":{"schedule":"TZ=UTC 0 * * * *","jobTemplate":{"metadata":{},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`, `spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`},
		{"cronjob", `{"metadata":{"name":"x"},"spec":{"schedule":"CRON_TZ=UTC 0 * * * *","jobTemplate":{"metadata":{},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`, `spec.schedule: Invalid value: "CRON_TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`},
		{"cronjob", `{"metadata":{"name":"x"},"spec":{"schedule":"0 * * * *","jobTemplate":{"metadata":{},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}},"timeZone":"Etc/UTC"}}`, ``},
		{"cronjob", `{"metadata":{"name":"x"},"spec":{"schedule":"0 * * * *","jobTemplate":{"metadata":{},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}},"timeZone":"Odd"}}`, `spec.timeZone: Invalid value: "Odd": unknown time zone Odd`},
		{"cronjob", `{"metadata":{"name":"x"},"spec":{"schedule":"0 * * * *","jobTemplate":{"metadata":{},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}},"timeZone":""}}`, `spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string`},
		{"service", `{"metadata":{"name":"x","annotations":{"service.kubernetes.io/topology-mode":"Auto","service.kubernetes.io/topology-aware-hints":"Disabled"}},"spec":{"ports":[{"port":1}]}}`, `metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "Auto": must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified`},
		{"service", `{"metadata":{"name":"x","annotations":{"service.kubernetes.io/topology-mode":"Auto","service.kubernetes.io/topology-aware-hints":"Auto"}},"spec":{"ports":[{"port":1}]}}`, ``},
		{"service", `{"metadata":{"name":"x","annotations":{"service.kubernetes.io/topology-mode":"Auto"}},"spec":{"ports":[{"port":1}]}}`, ``},
	} {
		c.ask(t, defs)
	}
}

// What persistent volumes may say of where they are.
func TestSourcesOfPersistentVolumes(t *testing.T) {
	defs := builtintest.Definitions(t)
	for _, c := range []asked{
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":"A_"}}}`, `spec.glusterfs.endpointsNamespace: Invalid value: "A_": ` + notLabel},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":""}}}`, `spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name`},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"azureFile":{"secretName":"s","shareName":"n","secretNamespace":""}}}`, `spec.azureFile.secretNamespace: Required value`},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"azureFile":{"secretName":"s","shareName":"n"}}}`, ``},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"azureFile":{"secretName":"s","shareName":"n","secretNamespace":"A_"}}}`, ``},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"iscsi":{"targetPortal":"1.2.3.4","iqn":"iqn.2001-04.com.example:a","lun":0,"secretRef":{}}}}`, `spec.iscsi.secretRef.name: Required value`},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"iscsi":{"targetPortal":"1.2.3.4","iqn":"iqn.2001-04.com.example:a","lun":0,"chapAuthDiscovery":true,"secretRef":{"name":""}}}}`, `spec.iscsi.secretRef.name: Required value`},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"storageos":{"volumeName":"v","volumeNamespace":"n","secretRef":{}}}}`, `[spec.storageos.secretRef.name: Required value, spec.storageos.secretRef.namespace: Required value]`},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"quobyte":{"registry":"a:1","volume":"v","tenant":"` + strings.Repeat("t", 65) + `"}}}`, `spec.quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters`},
		{"persistentvolume", `{"metadata":{"name":"x","annotations":{"volume.beta.kubernetes.io/mount-options":"a"}},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"nfs":{"server":"s","path":"/p"}}}`, ``},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"//"},"persistentVolumeReclaimPolicy":"Recycle"}}`, `spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'`},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/"},"persistentVolumeReclaimPolicy":"Recycle"}}`, `spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'`},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/./"},"persistentVolumeReclaimPolicy":"Recycle"}}`, `spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'`},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/..."},"persistentVolumeReclaimPolicy":"Recycle"}}`, ``},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"flexVolume":{"driver":"a/b"}}}`, ``},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"flexVolume":{"driver":"a/b","secretRef":{}}}}`, ``},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"flexVolume":{"driver":"a/b","options":{"a":"b"},"secretRef":{"name":"s"}}}}`, ``},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"flexVolume":{"driver":"b"}}}`, ``},
		{"persistentvolume", `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"flexVolume":{"driver":"a/b","secretRef":{"name":"n","namespace":"A_"}}}}`, ``},
	} {
		c.ask(t, defs)
	}
}
