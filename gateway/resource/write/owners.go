package write

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// unite does so with what patches and mutating admission made.
func (w *Write) unite(context.Context) error {
	if w.object != nil && !w.stored && w.operation != admission.Delete {
		unite(w.Options, w.object, " after mutating admission happens")
	}
	return nil
}

// unite takes away owner references that are there twice and says so, in
// kube-apiserver's words: clients repeat references that they add by a patch. since is
// how they came about, if not by what the client sent.
func unite(o resource.WriteOptions, obj *unstructured.Unstructured, since string) {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	refs, _ := metadata["ownerReferences"].([]any)
	if len(refs) < 2 {
		return
	}
	seen := map[any][]any{}
	var unique []any
	var repeated []string
	for _, ref := range refs {
		fields, _ := ref.(map[string]any)
		uid, _ := fields["uid"].(string)
		if contains(seen[uid], ref) {
			repeated = append(repeated, uid)
			continue
		}
		seen[uid] = append(seen[uid], ref)
		unique = append(unique, ref)
	}
	if len(repeated) == 0 {
		return
	}
	obj.Object, metadata = maps.Clone(obj.Object), maps.Clone(metadata) // which the present state may have, too
	metadata["ownerReferences"], obj.Object["metadata"] = unique, metadata
	o.AddWarning(fmt.Sprintf(".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in 1.20+, "+
		"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %s", since, strings.Join(repeated, ", ")))
}

func contains(refs []any, ref any) bool {
	for _, one := range refs {
		if reflect.DeepEqual(one, ref) {
			return true
		}
	}
	return false
}
