package managedfields_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// body is what an update or create asks for, as it is before field management:
// with the metadata that nobody can change, and in shape. False if it would
// never come that far.
func (r *run) body(op *oracleOp, live map[string]any) (map[string]any, bool) {
	body := cloneTree(op.Body)
	body["apiVersion"], body["kind"] = r.world.from.api(op.Version), r.world.from.kind()
	meta, ok := body["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		body["metadata"] = meta
	}
	identify(meta, live)
	if _, err := r.world.def.Version(op.Version).Shape.FromClient(body, false); err != nil {
		return nil, false
	}
	return body, !r.world.oddItems(op.Version, body)
}

// identify sets what the server sets.
func identify(meta, live map[string]any) {
	meta["name"], meta["namespace"] = "o", "n"
	if old, ok := live["metadata"].(map[string]any); ok {
		for _, name := range []string{"uid", "creationTimestamp", "generation", "resourceVersion"} {
			if v, ok := old[name]; ok {
				meta[name] = v
			}
		}
	}
}

// store makes an accepted write the present state, as strategies would.
func (r *run) store(op *oracleOp, live, tree map[string]any, managed []byte) {
	tree = cloneTree(tree)
	v := r.world.def.Version(op.Version)
	status := r.world.from.version(op.Version).Status
	switch {
	case op.Subresource == "status":
		whole := cloneTree(live)
		setOrRemove(whole, "status", tree)
		tree = whole
	case status:
		setOrRemove(tree, "status", live)
	}
	meta, ok := tree["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		tree["metadata"] = meta
	}
	identify(meta, live)
	meta["uid"], meta["creationTimestamp"], meta["generation"] = "u1", "2000-01-01T00:00:00Z", int64(1)
	if _, err := v.Shape.FromClient(tree, false); err != nil || !r.world.valid(op.Version, tree) {
		return
	}
	stored, err := r.world.from.convert(tree, op.Version, oracleStorage)
	if err != nil {
		return
	}
	r.live = &object{cloneTree(stored), managed}
}

func setOrRemove(to map[string]any, name string, from map[string]any) {
	if v, ok := from[name]; ok {
		to[name] = cloneValue(v)
	} else {
		delete(to, name)
	}
}

// withManaged is a tree with its managedFields, as decoding makes it of a
// request or of the store: with metadata that has its types.
func (w *world) withManaged(tree map[string]any, managed []byte) (*unstructured.Unstructured, error) {
	tree = cloneTree(tree)
	if len(managed) > 0 {
		var list any
		if err := utiljson.Unmarshal(managed, &list); err != nil {
			return nil, err
		}
		if err := unstructured.SetNestedField(tree, list, "metadata", "managedFields"); err != nil {
			return nil, err
		}
		if l, ok := list.([]any); ok && len(l) == 0 && w.from.builtin != nil {
			return &unstructured.Unstructured{Object: tree}, nil // typed decoding tells none from an empty list
		}
		meta, ok, err := objectmeta.GetObjectMeta(tree, false)
		if err != nil || !ok {
			return nil, fmt.Errorf("metadata: %v, %w", ok, err)
		}
		if err := objectmeta.SetObjectMeta(tree, meta); err != nil {
			return nil, err
		}
	}
	return &unstructured.Unstructured{Object: tree}, nil
}

// managedOf are an object's managedFields as stored; nil for none.
func managedOf(u *unstructured.Unstructured) ([]byte, error) {
	list, ok, err := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
	if err != nil || !ok || list == nil {
		return nil, err
	}
	if l, ok := list.([]any); ok && len(l) == 0 {
		return nil, nil
	}
	return json.Marshal(list)
}

// canonical is JSON with the members of its objects in order; none and null
// are nothing.
func canonical(in []byte) ([]byte, error) {
	if len(in) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(in))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if v == nil {
		return nil, nil
	}
	return []byte(asJSON(v)), nil
}

func asJSON(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(out.Bytes()))
}

// sameTree tells that two trees are the same values of the same Go types. The
// oracle's always has metadata, since it has managedFields there.
func sameTree(a, b map[string]any) bool {
	return reflect.DeepEqual(withMetadata(a), withMetadata(b))
}

func withMetadata(tree map[string]any) map[string]any {
	out := maps.Clone(tree)
	if _, ok := out["metadata"]; !ok && out != nil {
		out["metadata"] = map[string]any{}
	}
	return out
}

// valid tells that validation lets an object pass, but for the items of lists
// that are there twice: such may have come before the list was a set or map.
func (w *world) valid(version string, tree map[string]any) bool {
	v := w.validators[version]
	return v == nil || v.Validate(tree).IsValid()
}

// oddItems tells of an object at a version that, wherever it is converted to,
// a map list has an item that is not compared: one without any field, since
// when all its keys have defaults, and one of two appliers drops it, the oracle
// removes what the other owns; or one with a number for a key that the oracle,
// which reads keys as floats, takes for another.
func (w *world) oddItems(version string, tree map[string]any) bool {
	for _, v := range w.from.Versions {
		there, err := w.from.convert(tree, version, v.Name)
		if err == nil && v.Schema != nil && oddItems(v.Schema, there) {
			return true
		}
	}
	return false
}

func oddItems(s *props, v any) bool {
	switch x := v.(type) {
	case map[string]any:
		for name := range x {
			if c := child(s, name); c != nil && oddItems(c, x[name]) {
				return true
			}
		}
	case []any:
		if s.Items == nil {
			return false
		}
		for _, item := range x {
			if isOdd(s.XListMapKeys, item) || oddItems(s.Items.Schema, item) {
				return true
			}
		}
	}
	return false
}

func isOdd(keys []string, item any) bool {
	const exact = 1 << 53
	m, ok := item.(map[string]any)
	for _, k := range keys {
		if n, is := m[k].(int64); is && (n >= exact || n <= -exact) {
			return true
		}
	}
	return ok && len(m) == 0 && len(keys) > 0
}

// loses tells of an object at a version that it is another one when it comes
// back from some other version, which no converter may do.
func (w *world) loses(version string, tree map[string]any) bool {
	for _, v := range w.from.Versions {
		there, err := w.from.moved(tree, version, v.Name)
		if err != nil {
			return true
		}
		if back, err := w.from.moved(there, v.Name, version); err != nil || !sameTree(back, tree) {
			return true
		}
	}
	return false
}
