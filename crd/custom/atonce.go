package custom

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/custom/accept"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Accept does what the library does around a strategy (rest.BeforeCreate, and with a
// state before rest.BeforeUpdate) with an object in a namespace. False means that it
// did not, because the object may be invalid or is unusual; then the strategy has to
// be asked, with the same outcome as if this had not been.
func (s *strategy) Accept(ctx context.Context, namespace string, obj, old *unstructured.Unstructured) bool {
	p, err := s.made.parts()
	meta, ok := obj.Object["metadata"].(map[string]any)
	if err != nil || !ok || !p.isIn(namespace, meta) {
		return false
	}
	if old != nil {
		return s.acceptUpdate(ctx, p, namespace, obj, old)
	}
	if !accept.IsTime(meta["creationTimestamp"]) || isNone(meta["uid"]) {
		return false
	}
	if p.hasStatus {
		delete(obj.Object, "status")
	}
	meta["generation"] = int64(1)
	return p.quick.Accepts(obj, nil)
}

func (s *strategy) acceptUpdate(ctx context.Context, p *parts, namespace string, obj, old *unstructured.Unstructured) bool {
	was, _ := old.Object["metadata"].(map[string]any)
	generation, _ := was["generation"].(int64)
	if generation < 1 {
		return false
	}
	obj.Object["metadata"].(map[string]any)["generation"] = generation
	s.Prepare(ctx, obj, old)
	meta, ok := obj.Object["metadata"].(map[string]any)
	if !ok || !p.isIn(namespace, meta) {
		return false // that is now the one before, where only the status may change
	}
	if isNone(meta["uid"]) && was["uid"] != nil {
		meta["uid"] = was["uid"]
	}
	if t, ok := was["creationTimestamp"]; ok && accept.IsTime(t) {
		meta["creationTimestamp"] = t
	}
	name, _ := meta["name"].(string)
	return accept.IsSubdomain(name) && meta["finalizers"] == nil && meta["generateName"] == nil && p.quick.Accepts(obj, old)
}

// isIn tells that metadata names the namespace of the request, or none where
// there are none.
func (p *parts) isIn(namespace string, meta map[string]any) bool {
	v, ok := meta["namespace"]
	if !p.namespaced {
		return !ok
	}
	own, _ := v.(string)
	return own == namespace && accept.IsDNSLabel(own)
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

// prepareStatus does what the library's strategy of the status does: all but the status,
// and who owns which field, is as it was. The two share it, but for metadata.
func prepareStatus(obj, old *unstructured.Unstructured) {
	status, ok := obj.Object["status"]
	meta, _ := obj.Object["metadata"].(map[string]any)
	managed, owned := meta["managedFields"]
	obj.Object = maps.Clone(old.Object)
	if was, ok := old.Object["metadata"].(map[string]any); ok {
		was = object.Clone(was)
		if delete(was, "managedFields"); owned {
			was["managedFields"] = managed
		}
		obj.Object["metadata"] = was
	}
	if delete(obj.Object, "status"); ok {
		obj.Object["status"] = status
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
