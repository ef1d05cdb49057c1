package extend

import "github.com/wasmgate/wasmgate/crd/object"

// mountableSecrets is an annotation that kube-apiserver warns of.
const mountableSecrets = "kubernetes.io/enforce-mountable-secrets"

// cleanSecretReferences leaves only the names: a service account refers to
// secrets of its own namespace.
func cleanSecretReferences(obj map[string]any) {
	secrets, _ := obj["secrets"].([]any)
	for i, s := range secrets {
		ref, _ := s.(map[string]any)
		secrets[i] = map[string]any{}
		if name := object.TextAt(ref, "name"); name != "" {
			secrets[i] = map[string]any{"name": name}
		}
	}
}

func warnServiceAccount(obj, old map[string]any) []string {
	if object.TextAt(old, "metadata", "annotations", mountableSecrets) != "" || object.TextAt(obj, "metadata", "annotations", mountableSecrets) == "" {
		return nil
	}
	return []string{"metadata.annotations[" + mountableSecrets + "]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"}
}
