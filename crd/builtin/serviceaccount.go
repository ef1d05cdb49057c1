package builtin

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

// mountableSecrets is an annotation that kube-apiserver warns of.
const mountableSecrets = "kubernetes.io/enforce-mountable-secrets"

func serviceAccount() *crd.Definition {
	return define(kind[corev1.ServiceAccount]{
		version: "v1", name: "ServiceAccount", plural: "serviceaccounts", shortNames: []string{"sa"}, namespaced: true,
		rules: rules[corev1.ServiceAccount]{
			prepareCreate: cleanSecretReferences,
			prepareUpdate: func(obj, _ map[string]any) { cleanSecretReferences(obj) },
			validate: func(s *corev1.ServiceAccount) field.ErrorList {
				return validateMeta(&s.ObjectMeta, true, apivalidation.NameIsDNSSubdomain)
			},
			validateUpdate: func(s, old *corev1.ServiceAccount) field.ErrorList {
				errs := validateMetaUpdate(&s.ObjectMeta, &old.ObjectMeta)
				return append(errs, validateMeta(&s.ObjectMeta, true, apivalidation.NameIsDNSSubdomain)...)
			},
			warn:          warnServiceAccount,
			unconditional: true,
		},
		columns: []metav1.TableColumnDefinition{nameColumn, ageColumn},
		cells: func(s *corev1.ServiceAccount) []any {
			return []any{s.Name, since(s.CreationTimestamp)}
		},
	})
}

// cleanSecretReferences leaves only the names: a service account refers to
// secrets of its own namespace.
func cleanSecretReferences(obj map[string]any) {
	secrets, _ := obj["secrets"].([]any)
	for i, s := range secrets {
		ref, _ := s.(map[string]any)
		secrets[i] = map[string]any{}
		if name := text(ref, "name"); name != "" {
			secrets[i] = map[string]any{"name": name}
		}
	}
}

func warnServiceAccount(s, old *corev1.ServiceAccount) []string {
	if old != nil {
		if _, ok := old.Annotations[mountableSecrets]; ok {
			return nil
		}
	}
	if _, ok := s.Annotations[mountableSecrets]; ok {
		return []string{"metadata.annotations[" + mountableSecrets + "]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"}
	}
	return nil
}
