package warnings_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/warnings"
	"github.com/wasmgate/wasmgate/crd/object"
)

// The words are compared with kube-apiserver's in test/story/standards. Here is what no
// recording shows: which writes are warned of, and how much an odd object costs.

func tree(t *testing.T, text string) map[string]any {
	t.Helper()
	out, _, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestChangesAreWarnedOf(t *testing.T) {
	const template = `"template":{"spec":{"terminationGracePeriodSeconds":-1}}`
	for _, c := range []struct {
		gr       schema.GroupResource
		obj, old string
		warnings int
	}{
		{schema.GroupResource{Resource: "pods"}, `{"metadata":{"name":"a.b"},"spec":{"terminationGracePeriodSeconds":-1}}`, ``, 2},
		{schema.GroupResource{Resource: "pods"}, `{"metadata":{"name":"a.b"},"spec":{"terminationGracePeriodSeconds":-1}}`, `{}`, 0},
		{schema.GroupResource{Group: "apps", Resource: "deployments"}, `{"metadata":{"name":"a.b","generation":2},"spec":{` + template + `}}`, `{"metadata":{"generation":1}}`, 1},
		{schema.GroupResource{Group: "apps", Resource: "deployments"}, `{"metadata":{"name":"a.b","generation":2},"spec":{` + template + `}}`, `{"metadata":{"generation":2}}`, 0},
		{schema.GroupResource{Group: "apps", Resource: "statefulsets"}, `{"metadata":{"generation":2},"spec":{"revisionHistoryLimit":-1,` + template + `}}`, `{"metadata":{"generation":2}}`, 1},
		{schema.GroupResource{Group: "batch", Resource: "cronjobs"}, `{"metadata":{"name":"a.b","generation":2},"spec":{"jobTemplate":{"spec":{` + template + `}}}}`, `{"metadata":{"generation":1}}`, 1},
		{schema.GroupResource{Group: "networking.k8s.io", Resource: "ingresses"}, `{"metadata":{"annotations":{"kubernetes.io/ingress.class":""}},"spec":{}}`, `{}`, 0},
		{schema.GroupResource{Group: "networking.k8s.io", Resource: "ingresses"}, `{"metadata":{"annotations":{"kubernetes.io/ingress.class":""}},"spec":{"ingressClassName":"x"}}`, ``, 0},
		{schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"}, `{"addressType":"FQDN"}`, `{}`, 0},
		{schema.GroupResource{Resource: "resourcequotas"}, `{"spec":{"hard":{"cpu":"2","limits.cpu":"1"}}}`, `{}`, 0},
		{schema.GroupResource{Resource: "endpoints"}, `{"metadata":{"labels":{"endpoints.kubernetes.io/managed-by":"endpoint-controller"}},"subsets":[{"addresses":[{"ip":"::FF"}]}]}`, ``, 0},
		{schema.GroupResource{Group: "storage.k8s.io", Resource: "csidrivers"}, `{"spec":{"tokenRequests":[{"audience":"a"}]}}`, `{"spec":{"tokenRequests":[{"audience":"a"}]}}`, 0},
		{schema.GroupResource{Group: "storage.k8s.io", Resource: "csidrivers"}, `{"spec":{"tokenRequests":[{"audience":"a"}]}}`, `{"spec":{}}`, 1},
		{schema.GroupResource{Group: "storage.k8s.io", Resource: "csidrivers"}, `{"spec":{"tokenRequests":[{"audience":"a"}],"serviceAccountTokenInSecrets":false}}`, ``, 0},
		{schema.GroupResource{Group: "storage.k8s.io", Resource: "csistoragecapacities"}, `{"nodeTopology":{"matchExpressions":[{"key":"beta.kubernetes.io/os","operator":"In","values":["no label"]}]}}`, ``, 1},
		{schema.GroupResource{Group: "storage.k8s.io", Resource: "csistoragecapacities"}, `{"nodeTopology":{"matchLabels":{"beta.kubernetes.io/os":"linux","other":"x"},"matchExpressions":[{"key":"other","operator":"In","values":["no label"]}]}}`, ``, 1},
		{schema.GroupResource{Group: "storage.k8s.io", Resource: "storageclasses"}, `{"allowedTopologies":[{"matchLabelExpressions":[{"key":"other","values":["a"]},{"key":"beta.kubernetes.io/os","values":["a"]}]}]}`, ``, 1},
		{schema.GroupResource{Group: "node.k8s.io", Resource: "runtimeclasses"}, `{"scheduling":{"nodeSelector":{"beta.kubernetes.io/os":"linux","other":"x"}}}`, ``, 1},
	} {
		var old map[string]any
		if c.old != "" {
			old = tree(t, c.old)
		}
		if got := warnings.Of(c.gr)(tree(t, c.obj), old); len(got) != c.warnings {
			t.Errorf("%s, %s after %s: %q", c.gr, c.obj, c.old, got)
		}
	}
	if warnings.Of(schema.GroupResource{Resource: "configmaps"}) != nil {
		t.Error("there is something to say of a ConfigMap")
	}
}

// TestOddObjectsCostLittle has objects in which each of many things has to do with each
// other. All of them together take a second, and without bounds minutes.
func TestOddObjectsCostLittle(t *testing.T) {
	const many = 40_000
	repeat := func(format string) string {
		var all []string
		for i := range many {
			all = append(all, strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return strings.Join(all, ",")
	}
	pod := func(spec string) string { return `{"metadata":{"name":"p"},"spec":{` + spec + `}}` }
	for name, spec := range map[string]string{
		"ports":     `"containers":[{"name":"c","ports":[` + repeat(`{"containerPort":1,"hostPort":1,"hostIP":"#"}`) + `]}]`,
		"same":      `"containers":[{"name":"c","ports":[` + repeat(`{"containerPort":1,"name":"x"}`) + `]}]`,
		"paths":     `"volumes":[{"name":"v","configMap":{"items":[` + repeat(`{"path":"a/#"}`) + `]}}]`,
		"projected": `"volumes":[{"name":"v","projected":{"sources":[` + repeat(`{"serviceAccountToken":{"path":"a"}}`) + `]}}]`,
		"env":       `"containers":[{"name":"c","env":[` + repeat(`{"name":"A","value":"#"}`) + `]}]`,
		"numbers":   `"containers":[{"name":"c","resources":{"limits":{"memory":"1e-2000000000"}}}]`,
	} {
		got := warnings.Of(schema.GroupResource{Resource: "pods"})(tree(t, pod(spec)), nil)
		if len(got) > 100 {
			t.Errorf("%s: %d warnings", name, len(got))
		}
		if wants := !slices.Contains([]string{"numbers", "paths", "ports"}, name); wants != (len(got) > 0) {
			t.Errorf("%s: %.200q", name, got)
		}
	}
}

// FuzzWarnings has nothing that a client can send end the program.
func FuzzWarnings(f *testing.F) {
	kinds := []schema.GroupResource{
		{Resource: "pods"}, {Group: "apps", Resource: "statefulsets"}, {Group: "batch", Resource: "cronjobs"}, {Resource: "services"},
		{Group: "networking.k8s.io", Resource: "networkpolicies"}, {Resource: "persistentvolumes"}, {Resource: "resourcequotas"}, {Group: "storage.k8s.io", Resource: "csistoragecapacities"},
	}
	for i := range kinds {
		f.Add(i, []byte(`{"metadata":{"name":"a.b","annotations":{"x":1}},"spec":{"containers":[{"ports":[{"containerPort":1}],"env":[{"name":"A"},{"name":"A"}],"resources":{"limits":{"memory":"1m"}}},3],"hard":{"cpu":"1"},"externalIPs":["::FF"],"volumes":[{"projected":{"sources":[{}]}}],"ingress":[{"from":[{"ipBlock":{"cidr":"1.2.3.4/8"}}]}]}}`))
	}
	f.Fuzz(func(t *testing.T, kind int, data []byte) {
		var obj map[string]any
		if json.Unmarshal(data, &obj) != nil || kind < 0 {
			return
		}
		for _, w := range warnings.Of(kinds[kind%len(kinds)])(obj, nil) {
			if w == "" {
				t.Error("a warning without words")
			}
		}
	})
}
