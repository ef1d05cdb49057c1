package custom

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/object"
)

// AcceptCreate does what rest.BeforeCreate does with an object that is going to
// be created in a namespace. False means that it did not, because the object
// may be invalid or is unusual; then rest.BeforeCreate has to be asked, and has
// the same outcome as if this had not been.
func (s *lazyStrategy) AcceptCreate(namespace string, obj *unstructured.Unstructured) bool {
	meta, ok := obj.Object["metadata"].(map[string]any)
	if !ok || !s.isIn(namespace, meta) || !isTime(meta["creationTimestamp"]) || isNone(meta["uid"]) {
		return false
	}
	if s.status {
		delete(obj.Object, "status")
	}
	meta["generation"] = int64(1)
	return s.quick.accepts(obj)
}

// AcceptUpdate does what rest.BeforeUpdate does with a change of an object in a
// namespace. False means the same as of AcceptCreate.
func (s *lazyUpdate) AcceptUpdate(ctx context.Context, namespace string, obj, old *unstructured.Unstructured) bool {
	meta, ok := obj.Object["metadata"].(map[string]any)
	was, found := old.Object["metadata"].(map[string]any)
	if !ok || !found || !s.isIn(namespace, meta) {
		return false
	}
	generation, _ := was["generation"].(int64)
	if generation < 1 {
		return false
	}
	meta["generation"] = generation
	s.PrepareForUpdate(ctx, obj, old)
	if meta, ok = obj.Object["metadata"].(map[string]any); !ok || !s.isIn(namespace, meta) {
		return false // that is now the one before, where only the status may change
	}
	if isNone(meta["uid"]) && was["uid"] != nil {
		meta["uid"] = was["uid"]
	}
	if t, ok := was["creationTimestamp"]; ok && isTime(t) {
		meta["creationTimestamp"] = t
	}
	name, _ := meta["name"].(string)
	return isSubdomain(name) && meta["finalizers"] == nil && meta["generateName"] == nil && s.quick.acceptsUpdate(obj, old)
}

// isIn tells that metadata names the namespace of the request, or none where
// there are none.
func (s *lazyUpdate) isIn(namespace string, meta map[string]any) bool {
	v, ok := meta["namespace"]
	if !s.namespaced {
		return !ok
	}
	own, _ := v.(string)
	return own == namespace && isDNSLabel(own)
}

// isNone tells that a text of metadata is not there.
func isNone(v any) bool { return v == nil || v == any("") }

// prepareUpdate does what the library's strategy of whole objects does: the
// status is another subresource's, if there is one, and a change of anything
// but metadata is another generation.
func prepareUpdate(status bool, obj, old *unstructured.Unstructured) {
	if status {
		if was, ok := old.Object["status"]; ok {
			obj.Object["status"] = was
		} else {
			delete(obj.Object, "status")
		}
	}
	if !sameContent(obj.Object, old.Object) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
}

// sameContent compares everything but metadata.
func sameContent(a, b map[string]any) bool {
	fields := 0
	for k, v := range a {
		if k == "metadata" {
			continue
		}
		fields++
		if w, ok := b[k]; !ok || !object.Equal(v, w) {
			return false
		}
	}
	if _, ok := b["metadata"]; ok {
		fields++
	}
	return fields == len(b)
}
