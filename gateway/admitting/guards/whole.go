package guards

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
)

// whole refuses objects that rely on what is not in a folder: what the API can change, or
// nobody has.
func (r *reader) whole(s *State) error {
	byName := map[string]Object{}
	for _, o := range s.Objects {
		if !o.Parameter && !strings.HasSuffix(o.GetKind(), "Binding") {
			byName[o.GetName()] = o
		}
	}
	for _, o := range s.Objects {
		var err error
		switch {
		case o.Parameter:
		case strings.HasSuffix(o.GetKind(), "Binding"):
			err = bound(o, byName)
		case strings.HasSuffix(o.GetKind(), "AdmissionPolicy"):
			err = hasParameters(o, s)
		case strings.HasSuffix(o.GetKind(), "WebhookConfiguration"):
			err = calls(o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bound refuses a binding of a policy that is not in its folder.
func bound(binding Object, policies map[string]Object) error {
	name, _, _ := unstructured.NestedString(binding.Object, "spec", "policyName")
	if !strings.HasSuffix(name, Suffix) {
		return fmt.Errorf("binding %q: spec.policyName %q must end with %q", binding.GetName(), name, Suffix)
	}
	if _, there := policies[name]; !there {
		return fmt.Errorf("binding %q references policy %q which does not exist in the manifest directory", binding.GetName(), name)
	}
	return nil
}

// hasParameters refuses a policy of whose parameters the folder has none.
func hasParameters(policy Object, s *State) error {
	kind, asks := paramKind(policy)
	if !asks {
		return nil
	}
	if _, has := s.Namespaced(kind); !has {
		return fmt.Errorf("%s %q: spec.paramKind is not supported for static manifests without an object of it in the manifest directory: there is no %s", policy.GetKind(), policy.GetName(), kind)
	}
	return nil
}

func paramKind(policy Object) (kind schema.GroupVersionKind, asks bool) {
	said, asks, _ := unstructured.NestedStringMap(policy.Object, "spec", "paramKind")
	return schema.FromAPIVersionAndKind(said["apiVersion"], said["kind"]), asks
}

// calls refuses a webhook that is not called by a URL, or is a module that the API can
// change.
func calls(configuration Object) error {
	hooks, _, _ := unstructured.NestedSlice(configuration.Object, "webhooks")
	for _, h := range hooks {
		hook, _ := h.(map[string]any)
		name, _, _ := unstructured.NestedString(hook, "name")
		wrong := func(what string) error {
			return fmt.Errorf("webhook %q in %q: %s", name, configuration.GetName(), what)
		}
		if _, service, _ := unstructured.NestedMap(hook, "clientConfig", "service"); service {
			return wrong("clientConfig.service is not supported for static manifests; use clientConfig.url instead")
		}
		url, _, _ := unstructured.NestedString(hook, "clientConfig", "url")
		if url == "" {
			return wrong("clientConfig.url is required for static manifests")
		}
		if module, ok := crd.ModuleName(url); ok && !strings.HasSuffix(module, Suffix) {
			return wrong(fmt.Sprintf("the module %q must end with %q", module, Suffix))
		}
	}
	return nil
}
