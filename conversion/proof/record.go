package proof

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// The bounds of a recording.
const (
	// disguises is how often an object is disguised until its version takes it.
	disguises = 8
	// maxEntries is how many items of a list and entries of a map are recorded.
	maxEntries = 8
)

// Recorder makes samples of objects that people have: a few that cover much, with other
// values of the same shape. What is in them that tells of somebody does not get out: no
// text, number or key stays but those that the schema names, as values of an enum, as a
// default or as a property. What is true, false, null or empty stays.
type Recorder struct {
	objects *objects
	random  *rand.Rand
	// texts are what stands for each text, and taken what is no substitute any more:
	// what stands for another one, and all texts of all objects.
	texts map[string]string
	taken map[string]bool
}

// NewRecorder returns a recorder of objects at a version.
func NewRecorder(d *crd.Definition, version string) (*Recorder, error) {
	v := d.Version(version)
	if v == nil {
		return nil, fmt.Errorf("%s.%s has no version %s", d.Plural, d.Group, version)
	}
	o, err := newObjects(d, v, 1)
	if err != nil {
		return nil, err
	}
	return &Recorder{objects: o, random: rand.New(rand.NewPCG(1, 1)), texts: map[string]string{}, taken: map[string]bool{}}, nil
}

// Recorded are samples.
type Recorded struct {
	Objects []map[string]any
	// Reached is the number of fields that they have, of all Fields of the schema.
	Reached, Fields int
	// Refused is how many objects were passed over, as no disguise of them was valid.
	Refused int
}

// Record chooses at most most objects that have as many fields, and values of enums,
// as there are in all, and disguises them.
func (r *Recorder) Record(all []map[string]any, most int) (out Recorded) {
	features := make([]map[string]bool, len(all))
	for i, obj := range all {
		features[i] = r.features(obj)
		r.note(obj)
	}
	covered := map[string]bool{}
	for len(out.Objects) < most {
		best, gain := -1, 0
		for i, f := range features {
			if n := news(f, covered); n > gain {
				best, gain = i, n
			}
		}
		if best < 0 {
			break
		}
		disguised := r.disguised(all[best])
		if disguised == nil {
			out.Refused++
		} else {
			out.Objects = append(out.Objects, disguised)
			maps.Copy(covered, features[best])
		}
		features[best] = nil
	}
	fields := map[string]bool{}
	for _, obj := range out.Objects {
		r.objects.paths.each(obj, func(field string) { fields[field] = true })
	}
	out.Fields = len(r.objects.targets)
	for _, t := range r.objects.targets {
		if fields[t.field] {
			out.Reached++
		}
	}
	return out
}

func news(f, covered map[string]bool) (n int) {
	for name := range f {
		if !covered[name] {
			n++
		}
	}
	return n
}

// features are what a sample is chosen for: fields, and values of which there are few.
// Every object has one, so that there is a sample where nothing is set.
func (r *Recorder) features(obj map[string]any) map[string]bool {
	all := map[string]bool{"": true}
	r.objects.paths.each(obj, func(field string) { all[field] = true })
	var walk func(v any, s *schema, steps []string)
	walk = func(v any, s *schema, steps []string) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				if at, isKey := under(s, name); at != nil && !isKey {
					walk(value, at, append(steps[:len(steps):len(steps)], name))
				} else if at != nil {
					walk(value, at, append(steps[:len(steps):len(steps)], anyone))
				}
			}
		case []any:
			for _, item := range v {
				walk(item, items(s), append(steps[:len(steps):len(steps)], anyone))
			}
		case bool:
			all[fieldText(steps)+"="+strconv.FormatBool(v)] = true
		default:
			if s != nil && listed(merged(s, -1), v) {
				all[fmt.Sprintf("%s=%v", fieldText(steps), v)] = true
			}
		}
	}
	walk(obj, r.objects.paths.root, nil)
	return all
}

// listed tells whether a schema names a value.
func listed(s *schema, v any) bool {
	for _, e := range s.Enum {
		if one, ok := parsed(e); ok && object.Equal(one, v) {
			return true
		}
	}
	if s.Default != nil {
		one, ok := parsed(*s.Default)
		return ok && object.Equal(one, v)
	}
	return false
}

// note takes all texts of an object, so that none stands for another.
func (r *Recorder) note(v any) {
	switch v := v.(type) {
	case string:
		r.taken[v] = true
	case map[string]any:
		for name, value := range v {
			r.taken[name] = true
			r.note(value)
		}
	case []any:
		for _, item := range v {
			r.note(item)
		}
	}
}

// disguised is an object with other values, or nil.
func (r *Recorder) disguised(obj map[string]any) map[string]any {
	for range disguises {
		out := r.object(obj, r.objects.paths.root, 0)
		out["apiVersion"], out["kind"] = r.objects.at.apiVersion, r.objects.def.Kind
		out["metadata"] = r.metadata(obj)
		for range 4 {
			made, errs := r.objects.at.accepted(out)
			if made != nil {
				return out
			}
			if !repaired(out, errs) {
				break
			}
		}
	}
	return nil
}

// metadata is what is recorded of an object's.
func (r *Recorder) metadata(obj map[string]any) map[string]any {
	was, _ := obj["metadata"].(map[string]any)
	out := map[string]any{}
	for _, name := range []string{"name", "namespace"} {
		if text, ok := was[name].(string); ok && text != "" {
			out[name] = r.text(text, nil)
		}
	}
	for _, name := range []string{"labels", "annotations"} {
		entries, _ := was[name].(map[string]any)
		kept := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			text, ok := entries[key].(string)
			if !ok || len(kept) == maxEntries || document(text) {
				continue
			}
			kept[r.text(key, nil)] = r.text(text, nil)
		}
		if len(kept) > 0 {
			out[name] = kept
		}
	}
	return out
}

// value is another value of the same shape. s is nil for what no schema is about.
func (r *Recorder) value(v any, s *schema, depth int) any {
	if s != nil {
		s = merged(s, -1)
		if listed(s, v) {
			return object.CloneValue(v)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return r.object(v, s, depth)
	case []any:
		out := []any{}
		for i, item := range v {
			if i == mostOf(s) {
				break
			}
			out = append(out, r.value(item, items(s), depth+1))
		}
		return out
	case string:
		return r.text(v, s)
	case int64:
		return r.integer(v, s)
	case float64:
		return r.number(v, s)
	}
	return v
}

// mostOf is how many items of a list are recorded.
func mostOf(s *schema) int {
	if s == nil || s.MinItems == nil || *s.MinItems < maxEntries {
		return maxEntries
	}
	return int(min(*s.MinItems, 1<<20))
}

// object is one with other values, and with other names where the schema names none.
func (r *Recorder) object(obj map[string]any, s *schema, depth int) map[string]any {
	out := map[string]any{}
	if depth > maxLevels {
		return out
	}
	keys := 0
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		if (depth == 0 || s != nil && s.XEmbeddedResource) && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		at, isKey := under(s, name)
		as := name
		if at == nil || isKey {
			if keys == maxEntries {
				continue
			}
			keys++
			as = r.text(name, nil)
		}
		out[as] = r.value(obj[name], at, depth+1)
	}
	if s != nil && s.XEmbeddedResource {
		out["apiVersion"], out["kind"], out["metadata"] = "v1", "ConfigMap", map[string]any{"name": "a"}
	}
	return out
}
