package plugin

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/wasmgate/wasmgate/crd/object"
)

// isMirror tells whether a pod shows what a node runs from a file of its own.
func isMirror(tree map[string]any) bool {
	_, yes := object.Child(object.Child(tree, "metadata"), "annotations")[corev1.MirrorPodAnnotationKey]
	return yes
}

// mirrored refuses what a pod may not have that no one admitted.
func mirrored(tree map[string]any) error {
	spec := object.Child(tree, "spec")
	if object.TextAt(spec, "serviceAccountName") != "" {
		return errors.New("a mirror pod may not reference service accounts")
	}
	if pull, _ := spec["imagePullSecrets"].([]any); len(pull) > 0 || has(spec["volumes"], volumeSecrets) ||
		has(spec["containers"], containerSecrets) || has(spec["initContainers"], containerSecrets) || has(spec["ephemeralContainers"], containerSecrets) {
		return errors.New("a mirror pod may not reference secrets")
	}
	if has(spec["volumes"], map[string]bool{"serviceAccountToken": true}) {
		return errors.New("a mirror pod may not use ServiceAccountToken volume projections")
	}
	return nil
}

// The fields by which volumes and containers refer to secrets.
var (
	volumeSecrets    = map[string]bool{"secret": true, "secretRef": true, "azureFile": true, "nodePublishSecretRef": true}
	containerSecrets = map[string]bool{"secretKeyRef": true, "secretRef": true}
)

// has tells whether there is an object in one of the fields, however deep.
func has(v any, fields map[string]bool) bool {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if has(item, fields) {
				return true
			}
		}
	case map[string]any:
		for name, value := range v {
			if _, isObject := value.(map[string]any); isObject && fields[name] || has(value, fields) {
				return true
			}
		}
	}
	return false
}

// podSecrets refuses a pod with a secret that its account does not name.
func podSecrets(account *corev1.ServiceAccount, spec *corev1.PodSpec) error {
	may := mountable(account)
	for _, v := range spec.Volumes {
		if v.Secret != nil && !may[v.Secret.SecretName] {
			return fmt.Errorf("volume with secret.secretName=\"%s\" is not allowed because service account %s does not reference that secret", v.Secret.SecretName, account.Name)
		}
	}
	for _, c := range spec.InitContainers {
		if err := environment(account, may, "init container", c.Name, c.Env, c.EnvFrom); err != nil {
			return err
		}
	}
	for _, c := range spec.Containers {
		if err := environment(account, may, "container", c.Name, c.Env, c.EnvFrom); err != nil {
			return err
		}
	}
	pull := map[string]bool{}
	for _, s := range account.ImagePullSecrets {
		pull[s.Name] = true
	}
	for i, s := range spec.ImagePullSecrets {
		if !pull[s.Name] {
			return fmt.Errorf("imagePullSecrets[%d].name=\"%s\" is not allowed because service account %s does not reference that imagePullSecret", i, s.Name, account.Name)
		}
	}
	return nil
}

// debugSecrets refuses such a pod for what is added to debug it.
func debugSecrets(account *corev1.ServiceAccount, spec *corev1.PodSpec) error {
	may := mountable(account)
	for _, c := range spec.EphemeralContainers {
		if err := environment(account, may, "ephemeral container", c.Name, c.Env, c.EnvFrom); err != nil {
			return err
		}
	}
	return nil
}

func mountable(account *corev1.ServiceAccount) map[string]bool {
	may := map[string]bool{}
	for _, s := range account.Secrets {
		may[s.Name] = true
	}
	return may
}

func environment(account *corev1.ServiceAccount, may map[string]bool, kind, name string, env []corev1.EnvVar, from []corev1.EnvFromSource) error {
	for _, e := range env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil && !may[e.ValueFrom.SecretKeyRef.Name] {
			return fmt.Errorf("%s %s with envVar %s referencing secret.secretName=\"%s\" is not allowed because service account %s does not reference that secret", kind, name, e.Name, e.ValueFrom.SecretKeyRef.Name, account.Name)
		}
	}
	for _, e := range from {
		if e.SecretRef != nil && !may[e.SecretRef.Name] {
			return fmt.Errorf("%s %s with envFrom referencing secret.secretName=\"%s\" is not allowed because service account %s does not reference that secret", kind, name, e.SecretRef.Name, account.Name)
		}
	}
	return nil
}
