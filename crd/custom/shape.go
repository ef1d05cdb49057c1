package custom

import (
	"errors"
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/custom/accept"
	"github.com/wasmgate/wasmgate/crd/object"
)

// shape is the [crd.Shape] of one version. Every step first asks check whether
// there is anything to do, and only then calls the library.
type shape struct {
	schema   *structural
	root     *node
	preserve bool
	// whole: the root is an embedded resource itself, or defaults reach into
	// its metadata, so the library gets the object as it is.
	whole bool
}

func newShape(s *structural, preserve bool) *shape {
	out := &shape{schema: s, root: compileNode(s), preserve: preserve}
	if s != nil {
		out.whole = s.XEmbeddedResource
		for name := range metaFields {
			if p, ok := s.Properties[name]; ok && hasDefaults(&p) {
				out.whole = true
			}
		}
	}
	return out
}

// mode is where an object comes from.
type mode struct {
	strict  bool // report what is dropped
	lenient bool // drop metadata that cannot be read, repair the generation
	fill    bool // set defaults
	keep    bool // drop nothing
	part    bool // drop no nulls, and leave embedded metadata to validation
}

func (s *shape) FromClient(obj map[string]any, strict bool) ([]string, error) {
	return s.apply(obj, mode{strict: strict, fill: true})
}

// unknownFields words the paths of what was dropped.
func unknownFields(paths []string) []string {
	for i, p := range paths {
		paths[i] = `unknown field "` + p + `"`
	}
	return paths
}

func (s *shape) FromStorage(obj map[string]any) error {
	_, err := s.apply(obj, mode{lenient: true, fill: true})
	return err
}

func (s *shape) Canonical(obj map[string]any) bool {
	meta, ok := obj["metadata"].(map[string]any)
	if s.whole || !ok || !accept.IsString(obj["kind"]) || !accept.IsString(obj["apiVersion"]) {
		return false
	}
	for k, v := range meta {
		if empty, ok := accept.TidyField(k, v); empty || !ok {
			return false
		}
	}
	if _, ok := meta["generation"]; !ok {
		return false
	}
	delete(obj, "metadata") // nobody's schema applies to it
	needs := s.root.check(obj, true)
	obj["metadata"] = meta
	return needs == 0
}

func (s *shape) FromMerge(obj map[string]any) error {
	_, err := s.apply(obj, mode{fill: true, keep: true})
	return err
}

func (s *shape) FromConversion(obj map[string]any) error {
	_, err := s.apply(obj, mode{})
	return err
}

func (s *shape) FromPart(obj map[string]any) error {
	_, err := s.apply(obj, mode{part: true})
	return err
}

// apply is the whole pipeline: metadata, pruning, nulls, embedded resources,
// defaults. It returns what was dropped, in words, when strict.
func (s *shape) apply(obj map[string]any, m mode) ([]string, error) {
	for _, f := range [...]string{"kind", "apiVersion"} {
		if v, ok := obj[f]; ok {
			if _, ok := v.(string); !ok {
				return nil, fmt.Errorf(".%s accessor error: %v is of the type %T, expected string", f, v, v)
			}
		}
	}
	// The library does not know raw values, and has nothing to say of this one.
	if managed := object.Detach(obj); managed != nil {
		defer object.SetManaged(obj, managed)
	}
	unknown, err := coerceMetadata(obj, m)
	if err != nil {
		return nil, err
	}
	metadata, found := obj["metadata"]
	needs := needsPruning | needsDefaults
	if s.whole && found {
		obj["metadata"] = runtime.DeepCopyJSONValue(metadata)
	} else if !s.whole {
		// The metadata is ready and nobody's schema applies to it.
		delete(obj, "metadata")
		needs = s.root.check(obj, true)
	}
	var dropped []string
	if needs&needsPruning != 0 && !m.keep {
		dropped, err = s.prune(obj, m)
	}
	if found {
		obj["metadata"] = metadata
	}
	if err != nil {
		return nil, err
	}
	if m.fill && needs&needsDefaults != 0 {
		defaulting.Default(obj, s.schema)
	}
	return append(unknownFields(unknown), dropped...), nil
}

// prune drops unknown fields and nulls, and coerces embedded resources.
func (s *shape) prune(obj map[string]any, m mode) ([]string, error) {
	var unknown, instead []string
	if m.strict && !object.CanName(obj) {
		m.strict, instead = false, []string{object.TooLongToName}
	}
	if !s.preserve {
		opts := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: m.strict}
		unknown = pruning.PruneWithOptions(obj, s.schema, true, opts)
		if !m.part {
			defaulting.PruneNonNullableNullsWithoutDefaults(obj, s.schema)
		}
	}
	if m.part {
		return unknownFields(unknown), nil
	}
	fieldErr, paths := objectmeta.CoerceWithOptions(nil, obj, s.schema, false, objectmeta.CoerceOptions{
		DropInvalidFields:       m.lenient,
		ReturnUnknownFieldPaths: m.strict,
	})
	if fieldErr != nil {
		return nil, fieldErr
	}
	return append(instead, unknownFields(append(unknown, paths...))...), nil
}

var errNoMetadata = errors.New("invalid metadata: it is missing")

// coerceMetadata gives the object's metadata the form that the API's own type
// has. Metadata that is well-formed already is left as it is.
func coerceMetadata(obj map[string]any, m mode) ([]string, error) {
	raw, found := obj["metadata"]
	if !found {
		return nil, nil
	}
	tree, ok := raw.(map[string]any)
	if ok && accept.TidyMetadata(tree) {
		if m.lenient {
			if _, ok := tree["generation"]; !ok {
				tree["generation"] = int64(1)
			}
		}
		return nil, nil
	}
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(obj, objectmeta.ObjectMetaOptions{
		DropMalformedFields:     m.lenient,
		ReturnUnknownFieldPaths: m.strict,
	})
	if err != nil {
		return nil, err
	}
	if !found || meta == nil {
		return nil, errNoMetadata
	}
	if m.lenient && meta.Generation == 0 {
		meta.Generation = 1
	}
	if err := objectmeta.SetObjectMeta(obj, meta); err != nil {
		return nil, err
	}
	return unknown, nil
}
