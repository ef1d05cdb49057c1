package managedfields

import (
	"maps"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/crd/object"
)

// kubectl is the manager whose applies take over from client-side apply, which
// keeps what it last applied in an annotation, and keep that annotation as long
// as it is there.
const (
	kubectl               = "kubectl"
	lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"
)

// lastApplied is the annotation of an object, empty for none.
func lastApplied(tree map[string]any) string {
	meta, _ := tree["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	s, _ := annotations[lastAppliedAnnotation].(string)
	return s
}

// allowedByLastApplied are the fields that client-side apply set and that are
// as it set them: these may be taken over. Nil means that nothing may.
func (w *write) allowedByLastApplied() *fieldpath.Set {
	text := lastApplied(w.live)
	if text == "" {
		return nil
	}
	var last map[string]any
	if err := utiljson.Unmarshal([]byte(text), &last); err != nil || last["apiVersion"] != w.v.api {
		return nil
	}
	if kind, _ := last["kind"].(string); kind == "" {
		return nil
	}
	t := w.v.types()
	if t.Validate(w.live, false) != nil || t.Validate(last, false) != nil {
		return nil
	}
	diff := t.Compare(last, w.live)
	return t.Fields(last, true).Difference(diff.Changed()).Difference(diff.Removed)
}

// updateLastApplied returns tree with the annotation that says what was
// applied, if there is one and kubectl writes. It changes nothing in place.
func (w *write) updateLastApplied(tree map[string]any) (map[string]any, error) {
	if w.c.Manager != kubectl || lastApplied(tree) == "" {
		return tree, nil
	}
	text, err := object.Encode(withoutLastApplied(w.c.New))
	if err != nil {
		return nil, err
	}
	meta, _ := tree["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	tree, meta, annotations = maps.Clone(tree), maps.Clone(meta), maps.Clone(annotations)
	tree["metadata"], meta["annotations"] = meta, annotations
	annotations[lastAppliedAnnotation] = string(text) + "\n"
	texts := make(map[string]string, len(annotations))
	for name, v := range annotations {
		texts[name], _ = v.(string)
	}
	if apivalidation.ValidateAnnotationsSize(texts) != nil {
		delete(annotations, lastAppliedAnnotation)
	}
	return tree, nil
}

// withoutLastApplied is a configuration as it goes into the annotation.
func withoutLastApplied(tree map[string]any) map[string]any {
	meta, ok := tree["metadata"].(map[string]any)
	if !ok {
		return tree
	}
	annotations, ok := meta["annotations"].(map[string]any)
	if !ok && meta["annotations"] == nil {
		if _, there := meta["annotations"]; !there {
			return tree
		}
	}
	tree, meta = maps.Clone(tree), maps.Clone(meta)
	tree["metadata"] = meta
	if annotations == nil {
		delete(meta, "annotations")
		return tree
	}
	annotations = maps.Clone(annotations)
	delete(annotations, lastAppliedAnnotation)
	meta["annotations"] = annotations
	return tree
}
