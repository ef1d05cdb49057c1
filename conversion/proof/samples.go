package proof

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/wasmgate/wasmgate/crd"
)

// Samples are valid objects of a version as somebody would write them, without an end:
// the least and the fullest, and then others. One that the version's own rules refuse
// is nil.
func Samples(d *crd.Definition, version string, seed uint64) (iter.Seq[map[string]any], error) {
	v := d.Version(version)
	if v == nil {
		return nil, fmt.Errorf("%s.%s has no version %s", d.Plural, d.Group, version)
	}
	o, err := newObjects(d, v, seed)
	if err != nil {
		return nil, err
	}
	return func(yield func(map[string]any) bool) {
		random := rand.New(rand.NewPCG(seed, 0))
		for _, present := range []int{100, 0, 70, 40} {
			for branch := range 4 {
				if !yield(written(o.make(random, nil, style{present: present, common: true, branch: branch}))) {
					return
				}
			}
		}
		for yield(written(o.any(random))) {
		}
	}, nil
}

// written is an object without what only a server says of it.
func written(obj map[string]any) map[string]any {
	if meta, ok := obj["metadata"].(map[string]any); ok {
		for _, name := range []string{"uid", "generation", "creationTimestamp"} {
			delete(meta, name)
		}
	}
	return obj
}
