package proof

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// objects are the objects that are tried of one version.
type objects struct {
	paths   paths
	targets []target
	def     *crd.Definition
	at      end
	seed    uint64
}

// end is a version with its name in objects.
type end struct {
	*crd.Version
	apiVersion string
}

func newObjects(d *crd.Definition, v *crd.Version, seed uint64) (*objects, error) {
	root := v.OpenAPISchema()
	if root == nil {
		return nil, fmt.Errorf("version %s has no schema", v.Name)
	}
	if root.Type == "" {
		root = root.DeepCopy()
		root.Type = "object"
	}
	return &objects{paths: paths{root}, targets: targetsOf(root), def: d, at: end{v, d.APIVersion(v.Name)}, seed: seed}, nil
}

// rounds is how many values each field gets of its own, at most.
const rounds = 24

// all are the objects, without an end: the least, the fullest, each field with each
// of its values, the fields side by side, and in between and from then on others at
// random. One that the version's own rules refuse is nil.
func (o *objects) all(yield func(map[string]any) bool) {
	random := rand.New(rand.NewPCG(o.seed, uint64(len(o.targets))))
	for obj := range o.plain(random) {
		if !yield(obj) {
			return
		}
	}
	for round := range rounds {
		for i, t := range o.targets {
			if !o.has(t, round) {
				continue
			}
			if !yield(o.aimed(random, t, round)) || i%8 == 7 && !yield(o.any(random)) {
				return
			}
		}
	}
	for yield(o.any(random)) {
	}
}

// plain are the objects that come first.
func (o *objects) plain(random *rand.Rand) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		for branch := range 4 {
			for _, present := range []int{0, 100} {
				if !yield(o.make(random, nil, style{present: present, common: true, branch: branch})) {
					return
				}
			}
		}
		for _, meta := range []map[string]any{
			{"labels": map[string]any{"app": "a", "example.com/empty": ""}},
			{"annotations": map[string]any{"example.com/note": "é \"q\"", "empty": ""}},
			{"labels": map[string]any{"app": "a"}, "annotations": map[string]any{"note": "b"}},
		} {
			obj := o.make(random, nil, style{present: 100, common: true})
			if obj != nil {
				for name, value := range meta {
					object.Ensure(obj, "metadata")[name] = value
				}
			}
			if !yield(obj) {
				return
			}
		}
	}
}

// has tells whether there is a value left for a field in a round.
func (o *objects) has(t target, round int) bool {
	s := merged(t.at, -1)
	if s.Type == "object" || s.Type == "array" {
		return round < 5
	}
	return round < len(scalars(s, rand.New(rand.NewPCG(0, 0))))
}

// aimed makes an object for one of a field's values. The first attempts have little
// else in them.
func (o *objects) aimed(random *rand.Rand, t target, round int) map[string]any {
	for try := range 6 {
		st := style{common: true, branch: try % 4, variant: round}
		if try > 3 {
			st.present = 60
		}
		if obj := o.make(random, t.steps, st); obj != nil {
			return obj
		}
	}
	return nil
}

func (o *objects) any(random *rand.Rand) map[string]any {
	return o.make(random, nil, style{present: []int{20, 50, 90}[random.IntN(3)], branch: -1})
}

// make makes an object, as it would be after a create of it, or nil.
func (o *objects) make(random *rand.Rand, steps []string, st style) map[string]any {
	m := &maker{style: st, random: random, left: maxNodes}
	tree, ok := m.value(o.paths.root, steps, 0).(map[string]any)
	if !ok {
		return nil
	}
	meta := map[string]any{"name": "a", "uid": "7f2b1c1e-5c3a-4f60-9d0e-1b2c3d4e5f60", "generation": int64(1), "creationTimestamp": "2020-01-02T03:04:05Z"}
	if o.def.Namespaced {
		meta["namespace"] = "default"
	}
	tree["metadata"] = meta
	return o.completed(tree)
}

// completed is a tree as it is after a create of it, without what is refused and may be
// missing; nil if that is not valid either.
func (o *objects) completed(tree map[string]any) map[string]any {
	tree["apiVersion"], tree["kind"] = o.at.apiVersion, o.def.Kind
	for range 4 {
		made, errs := o.at.accepted(tree)
		if made != nil {
			return made
		}
		if !repaired(tree, errs) {
			break
		}
	}
	return nil
}

// accepted is what a tree is once it is stored: complete, and as it is read. It is
// nil if it is not valid.
func (e end) accepted(tree map[string]any) (map[string]any, field.ErrorList) {
	tree = object.Clone(tree)
	if _, err := e.Shape.FromClient(tree, false); err != nil {
		return nil, nil
	}
	data, err := object.Encode(tree)
	if err != nil {
		return nil, nil
	}
	if tree, _, err = object.Parse(data); err != nil {
		return nil, nil
	}
	if e.Shape.FromStorage(tree) != nil {
		return nil, nil
	}
	if errs := e.validate(tree); len(errs) > 0 { // with numbers as they are read
		return nil, errs
	}
	return tree, nil
}

func (e end) validate(tree map[string]any) field.ErrorList {
	if e.Strategy == nil {
		return nil
	}
	return e.Strategy.Validate(context.Background(), &unstructured.Unstructured{Object: tree}, nil).Errors
}

// repaired removes what was refused, as far as it may be missing.
func repaired(tree map[string]any, errs field.ErrorList) (any bool) {
	for _, err := range errs {
		name, _, _ := strings.Cut(err.Field, "[")
		if removed(tree, strings.Split(name, ".")) {
			any = true
		}
	}
	return any
}

func removed(tree map[string]any, names []string) bool {
	for i, name := range names {
		if name == "" || i == 0 && name == "metadata" {
			return false
		}
		value, ok := tree[name]
		if !ok {
			return false
		}
		if i == len(names)-1 {
			delete(tree, name)
			return true
		}
		if tree, ok = value.(map[string]any); !ok {
			return false
		}
	}
	return false
}
