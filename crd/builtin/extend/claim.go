package extend

import (
	"context"
	"maps"

	"github.com/wasmgate/wasmgate/crd/object"
)

// prepareVolumeClaim says where a new claim's data come from in both ways that
// there are.
func prepareVolumeClaim(_ context.Context, obj map[string]any) {
	pairSources(object.Child(obj, "spec"), nil)
}

// prepareVolumeClaimUpdate does so for a claim that is updated.
func prepareVolumeClaimUpdate(subresource string, obj, old map[string]any) {
	if subresource == "" {
		pairSources(object.Child(obj, "spec"), object.Child(old, "spec"))
	}
}

// pairPlainSource does so for claims that were stored before there were two fields, too,
// which could not be changed otherwise.
func pairPlainSource(obj map[string]any) {
	spec := object.Child(obj, "spec")
	if source := object.Child(spec, "dataSource"); source != nil && spec["dataSourceRef"] == nil && plainSource(source) {
		spec["dataSourceRef"] = maps.Clone(source)
	}
}

// pairSources keeps the source of a claim's data the same in the field that
// clients of long ago know, which may name a claim or a snapshot and nothing else,
// and in the one that may name anything. One of another namespace is behind a gate
// that is off.
func pairSources(spec, was map[string]any) {
	if spec == nil {
		return
	}
	if object.TextAt(spec, "dataSourceRef", "namespace") != "" && was["dataSourceRef"] == nil {
		delete(spec, "dataSourceRef")
	}
	source, ref := object.Child(spec, "dataSource"), object.Child(spec, "dataSourceRef")
	if source != nil && ref == nil && was["dataSource"] == nil && was["dataSourceRef"] == nil && !plainSource(source) {
		delete(spec, "dataSource")
		source = nil
	}
	switch {
	case source != nil && ref == nil:
		spec["dataSourceRef"] = maps.Clone(source)
	case source == nil && ref != nil && object.TextAt(ref, "namespace") == "":
		source = maps.Clone(ref)
		delete(source, "namespace")
		spec["dataSource"] = source
	}
}

// plainSource tells a claim or a snapshot.
func plainSource(source map[string]any) bool {
	switch object.TextAt(source, "apiGroup") {
	case "":
		return object.TextAt(source, "kind") == "PersistentVolumeClaim"
	case "snapshot.storage.k8s.io":
		return object.TextAt(source, "kind") == "VolumeSnapshot"
	}
	return false
}
