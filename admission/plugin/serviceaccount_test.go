package plugin_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

var accounts = schema.GroupResource{Resource: "serviceaccounts"}

// sidecar adds a container to pods, as a webhook may.
type sidecar struct{}

func (sidecar) Name() string { return "MutatingAdmissionWebhook" }

func (sidecar) Mutate(ctx context.Context, a admission.Attributes) error {
	if a.GetResource().Resource != "pods" || a.GetSubresource() != "" || a.GetOperation() != admission.Create {
		return nil
	}
	tree := a.GetObject().DeepCopy().Object
	all, _, _ := unstructured.NestedSlice(tree, "spec", "containers")
	if err := unstructured.SetNestedSlice(tree, append(all, map[string]any{"name": "side", "image": "s"}), "spec", "containers"); err != nil {
		return err
	}
	return a.Replace(ctx, "v1", tree)
}

func withAccounts(t *testing.T) world {
	t.Helper()
	w := world{t: t, Engine: realengine.With(t, func(e *engine.Engine) admission.Chain {
		return admissiontest.Chain(t, plugin.ServiceAccount{Accounts: local.New(e, resource.Component("test"))}, sidecar{})
	})}
	w.must(namespaces, "", `{"metadata":{"name":"default"}}`)
	return w
}

// A pod that comes before its account waits for it, and not for ever.
func TestPodsWaitForTheDefaultAccount_RBAC(t *testing.T) {
	w := withAccounts(t)
	const pod = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	refusal := make(chan string, 1)
	go func() {
		_, text := w.create(pods, pod, false)
		refusal <- text
	}()
	w.must(accounts, "", `{"metadata":{"name":"default"}}`)
	if text := <-refusal; text != "" {
		t.Error(text)
	}
	const other = `{"metadata":{"name":"q"},"spec":{"serviceAccountName":"none","containers":[{"name":"c","image":"i"}]}}`
	if _, text := w.create(pods, other, false); text != `pods "q" is forbidden: error looking up service account default/none: serviceaccount "none" not found` {
		t.Error(text)
	}
}

// What is added after it gets the token, too, in the same volume.
func TestContainersThatAreAddedGetTheToken_RBAC(t *testing.T) {
	w := withAccounts(t)
	w.must(accounts, "", `{"metadata":{"name":"default"}}`)
	p := w.must(pods, "", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	volumes := at(p, "spec", "volumes").([]any)
	if len(volumes) != 1 {
		t.Fatalf("%v", volumes)
	}
	name := at(volumes[0].(map[string]any), "name").(string)
	containers := at(p, "spec", "containers").([]any)
	for _, c := range containers {
		mounts, _ := at(c.(map[string]any), "volumeMounts").([]any)
		if len(mounts) != 1 || at(mounts[0].(map[string]any), "name") != name || !strings.HasPrefix(name, "kube-api-access-") {
			t.Errorf("%v of %s", mounts, name)
		}
	}
	if len(containers) != 2 {
		t.Errorf("%d containers", len(containers))
	}
}

// What debugs a pod may only have the secrets that its account names, where the account
// says so. It is refused, as the pod would be; kube-apiserver says 500 here.
func TestDebuggersSecretsAreThoseOfTheAccount_RBAC(t *testing.T) {
	w := withAccounts(t)
	w.must(accounts, "", `{"metadata":{"name":"default","annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}},"secrets":[{"name":"known"}]}`)
	w.must(pods, "", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	if err := w.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := w.Catalog.Snapshot().Resource(pods)
	target := resource.Target{Resource: r, Version: r.Def.Version("v1"), Namespace: "default", Name: "p", Subresource: "ephemeralcontainers"}
	for name, want := range map[string]string{"known": "", "other": `pods "p" is forbidden: ephemeral container e with envFrom referencing secret.secretName="other" is not allowed because service account default does not reference that secret`} {
		obj, err := w.Get(t.Context(), pods, "default", "p")
		if err != nil {
			t.Fatal(err)
		}
		add := []any{map[string]any{"name": "e", "image": "i", "envFrom": []any{map[string]any{"secretRef": map[string]any{"name": name}}}}}
		if err := unstructured.SetNestedSlice(obj.Object, add, "spec", "ephemeralContainers"); err != nil {
			t.Fatal(err)
		}
		text, err := obj.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, err := w.Verbs.Update(t.Context(), target, text, resource.WriteOptions{Caller: resource.Component("test"), DryRun: true}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A pod has the secrets that its account names, where the account says so, wherever it
// names them.
func TestSecretsOfPodsAreThoseOfTheAccount_RBAC(t *testing.T) {
	w := withAccounts(t)
	w.must(accounts, "", `{"metadata":{"name":"default","annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}},"secrets":[{"name":"known"}],"imagePullSecrets":[{"name":"known"}]}`)
	const env = `"env":[{"name":"e","valueFrom":{"secretKeyRef":{"name":"NAME","key":"k"}}}]`
	for spec, want := range map[string]string{
		`"containers":[{"name":"c","image":"i",` + env + `}]`:                                             "container c with envVar e referencing secret.secretName=",
		`"containers":[{"name":"c","image":"i","envFrom":[{"secretRef":{"name":"NAME"}}]}]`:               "container c with envFrom referencing secret.secretName=",
		`"initContainers":[{"name":"b","image":"i",` + env + `}],"containers":[{"name":"c","image":"i"}]`: "init container b with envVar e referencing secret.secretName=",
		`"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","secret":{"secretName":"NAME"}}]`: "volume with secret.secretName=",
		`"containers":[{"name":"c","image":"i"}],"imagePullSecrets":[{"name":"NAME"}]`:                    "imagePullSecrets[0].name=",
	} {
		for _, name := range []string{"known", "other"} {
			_, text := w.create(pods, `{"metadata":{"name":"p"},"spec":{`+strings.ReplaceAll(spec, "NAME", name)+`}}`, true)
			if name == "known" && text != "" || name == "other" && !strings.Contains(text, want+`"other" is not allowed because service account default does not reference that`) {
				t.Errorf("%s of %s: %q, want %q", spec, name, text, want)
			}
		}
	}
}
