package resource

import "testing"

// Fields that a part writes belong to whom Kubernetes has in its place, and else to the part.
func TestPartsHaveKubernetesFieldManagers(t *testing.T) {
	for part, want := range map[string]string{
		"definitions": "kube-apiserver", "namespaces": "kube-apiserver", "rbac": "kube-apiserver", "services": "kube-apiserver",
		"controllers": "kube-controller-manager", "quotas": "kube-controller-manager",
		"flowcontrol": "api-priority-and-fairness-config-producer-v1", "modules": "modules",
	} {
		c := Component(part)
		if c.FieldManager != want || c.UserAgent != "wasmgate/"+part || c.User.Name != "system:wasmgate:"+part || !c.Own {
			t.Errorf("%s: %+v, want the manager %s", part, c, want)
		}
	}
}
