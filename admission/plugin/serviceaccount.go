package plugin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

var serviceAccounts = schema.GroupResource{Resource: "serviceaccounts"}

// ServiceAccount has new pods run as an account that is there, "default" if they name
// none, and mounts the account's token.
type ServiceAccount struct{ Accounts Reader }

// Name implements [admission.Plugin].
func (ServiceAccount) Name() string { return order.ServiceAccount }

// Edits implements [admission.Editor].
func (ServiceAccount) Edits(o admission.Operation, gr schema.GroupResource, subresource string) bool {
	return o == admission.Create && gr == pods && subresource == ""
}

// Edit implements [admission.Editor].
func (p ServiceAccount) Edit(ctx context.Context, a admission.Attributes, tree map[string]any) (changed bool, err error) {
	spec := object.Child(tree, "spec")
	switch {
	case spec == nil:
		return false, nil
	case isMirror(tree): // nothing of it is changed
		return false, forbidden(a, mirrored(tree))
	}
	if object.TextAt(spec, "serviceAccountName") == "" {
		spec["serviceAccountName"], spec["serviceAccount"], changed = defaultAccount, defaultAccount, true
	}
	account, err := p.account(ctx, a, object.TextAt(spec, "serviceAccountName"))
	if err != nil {
		return false, err
	}
	if automounts(account, spec) {
		changed = mountToken(spec) || changed
	}
	if pull, _ := spec["imagePullSecrets"].([]any); len(pull) == 0 && len(account.ImagePullSecrets) > 0 {
		for _, s := range account.ImagePullSecrets {
			pull = append(pull, map[string]any{"name": s.Name})
		}
		spec["imagePullSecrets"], changed = pull, true
	}
	return changed, nil
}

// Validate implements [admission.Validator].
func (p ServiceAccount) Validate(ctx context.Context, a admission.Attributes) error {
	if a.GetResource().GroupResource() != pods {
		return nil
	}
	created := a.GetOperation() == admission.Create && a.GetSubresource() == ""
	debugged := a.GetOperation() == admission.Update && a.GetSubresource() == "ephemeralcontainers"
	if !created && !debugged {
		return nil
	}
	tree := a.GetObject().Object
	if created && isMirror(tree) {
		return forbidden(a, mirrored(tree))
	}
	spec := object.Child(tree, "spec")
	name := object.TextAt(spec, "serviceAccountName")
	if name == "" {
		return forbidden(a, fmt.Errorf("no service account specified for pod %s/%s", a.GetNamespace(), a.GetObject().GetName()))
	}
	account, err := p.account(ctx, a, name)
	if err != nil || !enforcesSecrets(account) {
		return err
	}
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"spec": spec}, &pod); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if debugged {
		return forbidden(a, debugSecrets(account, &pod.Spec))
	}
	return forbidden(a, podSecrets(account, &pod.Spec))
}

// forbidden refuses a pod, if there is a reason.
func forbidden(a admission.Attributes, why error) error {
	if why == nil {
		return nil
	}
	return apierrors.NewForbidden(pods, admission.NameOf(a), why)
}

const (
	defaultAccount = "default"
	// A pod that comes right after its namespace waits for the account that every
	// namespace gets, as long as kube-apiserver does.
	attempts = 10
	pause    = 100 * time.Millisecond
)

// account is the account of a name.
func (p ServiceAccount) account(ctx context.Context, a admission.Attributes, name string) (*corev1.ServiceAccount, error) {
	left := 1
	if name == defaultAccount {
		left = attempts
	}
	wait := pause + rand.N(pause)
	for first := true; ; first = false {
		found, err := p.Accounts.Get(ctx, serviceAccounts, a.GetNamespace(), name)
		if err == nil {
			account := &corev1.ServiceAccount{}
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, account)
			return account, err
		}
		if apierrors.IsNotFound(err) && left > 0 {
			if left--; !first && !slept(ctx, wait) {
				return nil, ctx.Err()
			}
			if err := p.Accounts.Fresh(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if apierrors.IsNotFound(err) {
			err = apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, name)
		}
		return nil, forbidden(a, fmt.Errorf("error looking up service account %s/%s: %w", a.GetNamespace(), name, err))
	}
}

// slept waits, and reports whether ctx lasted.
func slept(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// automounts tells whether the account's token is mounted: as the pod says, else the
// account.
func automounts(account *corev1.ServiceAccount, spec map[string]any) bool {
	if said, ok := spec["automountServiceAccountToken"].(bool); ok {
		return said
	}
	return account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken
}

// Where the token is mounted.
const (
	tokenVolume = "kube-api-access-"
	tokenPath   = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// mountToken mounts the token in containers that have nothing in its place.
func mountToken(spec map[string]any) (changed bool) {
	volumes, _ := spec["volumes"].([]any)
	name, has := tokenVolume+utilrand.String(5), false
	for _, v := range volumes {
		if one, _ := v.(map[string]any); strings.HasPrefix(object.TextAt(one, "name"), tokenVolume) {
			name, has = object.TextAt(one, "name"), true
			break
		}
	}
	for _, field := range []string{"initContainers", "containers"} {
		containers, _ := spec[field].([]any)
		for _, c := range containers {
			if one, ok := c.(map[string]any); ok {
				changed = mountIn(one, name) || changed
			}
		}
	}
	if changed && !has {
		spec["volumes"] = append(volumes, map[string]any{"name": name, "projected": tokenSource()})
	}
	return changed
}

func mountIn(container map[string]any, volume string) bool {
	mounts, _ := container["volumeMounts"].([]any)
	for _, m := range mounts {
		if one, _ := m.(map[string]any); object.TextAt(one, "mountPath") == tokenPath {
			return false
		}
	}
	container["volumeMounts"] = append(mounts, map[string]any{"name": volume, "readOnly": true, "mountPath": tokenPath})
	return true
}

// tokenSource is a token, the authority to verify the server by, and the namespace.
func tokenSource() map[string]any {
	return map[string]any{"defaultMode": int64(corev1.ProjectedVolumeSourceDefaultMode), "sources": []any{
		map[string]any{"serviceAccountToken": map[string]any{"path": "token", "expirationSeconds": int64(3607)}},
		map[string]any{"configMap": map[string]any{"name": "kube-root-ca.crt", "items": []any{map[string]any{"key": "ca.crt", "path": "ca.crt"}}}},
		map[string]any{"downwardAPI": map[string]any{"items": []any{map[string]any{
			"path": "namespace", "fieldRef": map[string]any{"apiVersion": "v1", "fieldPath": "metadata.namespace"},
		}}}},
	}}
}

// enforcesSecrets tells whether pods of an account may only use the secrets that it names.
func enforcesSecrets(account *corev1.ServiceAccount) bool {
	yes, _ := strconv.ParseBool(account.Annotations["kubernetes.io/enforce-mountable-secrets"])
	return yes
}
