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
