package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// What the gateway writes by itself belongs to whom it belongs to in Kubernetes, as
// clients see who owns a field: the API server, or one of its controllers.
func TestFieldsOfTheGatewayHaveKubernetesManagers(t *testing.T) {
	api := harness.Start(t, harness.Options{}).API(t)
	api.Post(crdPath, object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "kites.example.com"}, "spec": object{
		"group": "example.com", "scope": "Namespaced", "names": object{"plural": "kites", "kind": "Kite"},
		"versions": []object{{"name": "v1", "served": true, "storage": true, "schema": object{"openAPIV3Schema": object{"type": "object"}}}},
	}}).Want(201)
	for path, want := range map[string]string{
		crdPath + "/kites.example.com":                                    "kube-apiserver Update status",
		namespacePath + "/default":                                        "kube-apiserver Update ",
		namespacePath + "/default/services/kubernetes":                    "kube-apiserver Update ",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles/edit":            "kube-apiserver Update ",
		"/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical": "kube-apiserver Update ",
		"/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com":      "kube-apiserver Update ",
		"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/probes":        "api-priority-and-fairness-config-producer-v1 Update ",
		configMaps("kube-system") + "/extension-apiserver-authentication": "kube-apiserver Update ",
	} {
		api.Eventually(path, func(r *harness.Reply) bool {
			var found []string
			metadata, _ := r.Object()["metadata"].(map[string]any)
			fields, _ := metadata["managedFields"].([]any)
			for _, f := range fields {
				f, _ := f.(map[string]any)
				subresource, _ := f["subresource"].(string)
				found = append(found, f["manager"].(string)+" "+f["operation"].(string)+" "+subresource)
			}
			return strings.Contains(strings.Join(found, "\n")+"\n", want+"\n")
		})
	}
}
