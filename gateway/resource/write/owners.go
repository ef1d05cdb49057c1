package write

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	if !repeatUID(refs) {
		return
	}
	seen := map[string]bool{} // of many that have one UID each is looked at once
	var unique []any
	var repeated []string
	for _, ref := range refs {
		fields, _ := ref.(map[string]any)
		uid, _ := fields["uid"].(string)
		text, err := json.Marshal(ref)
		if err == nil && seen[string(text)] {
			repeated = append(repeated, uid)
			continue
		}
		seen[string(text)] = true
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

// repeatUID tells that several references have one UID, as those that are the same do.
func repeatUID(refs []any) bool {
	seen := make(map[string]bool, len(refs))
	for _, ref := range refs {
		fields, _ := ref.(map[string]any)
		uid, _ := fields["uid"].(string)
		if seen[uid] {
			return true
		}
		seen[uid] = true
	}
	return false
}
