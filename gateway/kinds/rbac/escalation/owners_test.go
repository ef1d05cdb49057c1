package escalation_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac/escalation"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

var configMaps = schema.GroupResource{Resource: "configmaps"}

// owned is a config map with owners.
func owned(name string, owners ...metav1.OwnerReference) corev1.ConfigMap {
	return corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}
}

// owner is "APIVERSION KIND UID", with a ! at the end where it is held up.
func owner(said string) metav1.OwnerReference {
	blocks := strings.HasSuffix(said, "!")
	parts := strings.Fields(strings.TrimSuffix(said, "!"))
	return metav1.OwnerReference{APIVersion: parts[0], Kind: parts[1], UID: types.UID(parts[2]), Name: "o", BlockOwnerDeletion: &blocks}
}

// The refusals are those of kube-apiserver 1.36.3.
const (
	notDeleted = "cannot set an ownerRef on a resource you can't delete: , <nil>"
	notHeldUp  = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"
	noMapping  = "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion "
)

func ownersWorld(t *testing.T, may ...string) world {
	e := realengine.With(t, func(e *engine.Engine) admission.Chain {
		return admission.Chain{Validators: []admission.Validator{escalation.Owners{May: authority(may), Served: func() []*crd.Definition { return e.Catalog().Snapshot().Definitions }}}}
	})
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("default"))
	return world{e, t}
}

func TestOwners_NobodyHoldsUpWhatTheyMayNot(t *testing.T) {
	w := ownersWorld(t, "carol update secrets default o", "carol update nodes  o", "carol update configmaplists default o", "carol update lists  o", "dora update *  *")
	for _, c := range []struct{ user, owner, want string }{
		{"bob", "v1 Secret u", ""},
		{"bob", "x.io/v1 Nothing u", ""},
		{"bob", "v1 Secret u!", notHeldUp},
		{"bob", "v1 Node u!", notHeldUp},
		{"bob", "v1 ConfigMapList u!", notHeldUp},
		{"bob", "v1 List u!", notHeldUp},
		{"bob", "x.io/v1 Nothing u!", noMapping + `x.io/v1 Kind Nothing: no matches for kind "Nothing" in version "x.io/v1"`},
		{"bob", "v2 Secret u!", noMapping + `v2 Kind Secret: no matches for kind "Secret" in version "v2"`},
		{"bob", "v1 Status u!", noMapping + `v1 Kind Status: no matches for kind "Status" in version "v1"`},
		{"carol", "v1 Secret u!", ""},
		{"carol", "v1 Node u!", ""},
		{"carol", "v1 ConfigMapList u!", ""},
		{"carol", "v1 List u!", ""},
		{"carol", "v1 Pod u!", notHeldUp},
		{"dora", "v1 Secret u!", ""},
		{"dora", "x.io/v1 Nothing u!", ""},
	} {
		name := strings.ToLower(strings.NewReplacer(" ", "-", "/", "-", "!", "-blocks").Replace(c.user + " " + c.owner))
		refused(t, c.user+" "+c.owner, w.create(configMaps, c.user, owned(name, owner(c.owner))), c.want)
	}
	held := owned("own", owner("v1 Secret u!"))
	held.Namespace = "default"
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&held)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := local.New(w.Verbs, resource.Component("test")).Create(t.Context(), configMaps, &unstructured.Unstructured{Object: tree}); err != nil {
		t.Errorf("a part of the gateway: %v", err)
	}
}

func TestOwners_WhoChangesThemMayDelete(t *testing.T) {
	w := ownersWorld(t, "carol delete configmaps default a", "carol update secrets default o")
	change := func(owners ...metav1.OwnerReference) string {
		text, _ := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": owners}})
		return string(text)
	}
	patch := func(what, user, change, want string) {
		t.Helper()
		refused(t, user+": "+what, w.patch(configMaps, user, "a", change), want)
	}
	refused(t, "creating", w.create(configMaps, "bob", owned("a", owner("v1 Secret u"))), "")
	patch("something else", "bob", `{"data":{"a":"b"}}`, "")
	patch("the same", "bob", change(owner("v1 Secret u")), "")
	patch("none", "bob", change(), notDeleted)
	patch("one more", "bob", change(owner("v1 Secret u"), owner("v1 Secret v")), notDeleted)
	patch("one that is held up now", "carol", change(owner("v1 Secret u!")), "")
	patch("another kind under the uid", "carol", change(owner("v1 Pod u!")), "") // by the uid alone, as kube-apiserver
	patch("one more that is held up", "carol", change(owner("v1 Pod u!"), owner("v1 Pod w!")), notHeldUp)
	patch("one more that is not", "carol", change(owner("v1 Pod u!"), owner("v1 Pod w")), "")
	patch("none", "carol", change(), "")
	refused(t, "a master", w.patch(configMaps, "bob", "a", change(owner("v1 Secret u")), authn.Masters), notDeleted) // whom the chain of authorizers knows
}
