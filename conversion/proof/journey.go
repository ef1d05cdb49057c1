package proof

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Problem is what goes wrong with an object on its way.
type Problem string

// The problems.
const (
	// Lost is a field that does not come back as it was.
	Lost Problem = "Lost"
	// Fails is a conversion that is refused, though the object is valid.
	Fails Problem = "ConversionFails"
	// Refused is a converted object that its version's own rules do not accept.
	Refused Problem = "InvalidAtDestination"
	// Unstable is a conversion that gives different bytes for the same object.
	Unstable Problem = "NotDeterministic"
	// Metadata is a label or an annotation that the converted object lacks.
	Metadata Problem = "MetadataChanged"
)

// finding is a problem of one object.
type finding struct {
	problem Problem
	field   string // the path, as a Loss has it
	place   []any
	had     any
	got     any
	hasHad  bool
	hasGot  bool
	message string
	said    string // what a failure says, but for values
	words   string // and with words that the object has, too, as these may be the message's
	without string // the fields that the object was spared, as they fail
	back    bool   // it is the way back that fails
}

// keys are those by which it is known: of a failure there are two, as an object may
// have words of the message itself.
func (f *finding) keys() []string {
	if f.problem == Fails {
		return []string{f.key(), string(Fails) + " " + f.words + " " + f.without}
	}
	return []string{f.key()}
}

// key is the same for what is told once. The field of a failure is only known in the
// end, so it is what it says of an object without the fields that are known to fail.
func (f *finding) key() string {
	if f.problem == Fails {
		return string(Fails) + " " + f.said + " " + f.without
	}
	return string(f.problem) + " " + f.field
}

// journey takes objects from one version to another and back, the way that the
// server does when somebody reads an object at a version that is not stored, and
// writes what was read.
type journey struct {
	from, to     end
	converter    conversion.Converter
	acknowledged []string
	oneWay       bool // there may be no way back
	temporary    func(error) bool
	paths        paths
	found        map[string]bool // the findings that are known, by their key
	failures     int             // how many of those are failures
	without      string          // the fields that objects are spared just now
}

// run is nil for an object that loses nothing that is not known. The error is that
// of a conversion that says nothing of the converter. Each conversion there is made
// as often as times says.
func (j *journey) run(ctx context.Context, obj map[string]any, times int) (*finding, error) {
	data, err := object.Encode(obj)
	if err != nil {
		return nil, err
	}
	there, f, err := j.convert(ctx, obj, data, j.to.apiVersion)
	if there == nil {
		return f, err
	}
	for range times - 1 {
		again, f, err := j.convert(ctx, obj, data, j.to.apiVersion)
		if again == nil {
			return f, err
		}
		if f := j.news(&finding{problem: Unstable}); !bytes.Equal(there, again) && f != nil {
			return j.differs(f, there, again), nil
		}
	}
	tree, err := j.read(there, j.to)
	if err != nil {
		return j.failed(err, obj), nil
	}
	if f := j.arrived(obj, tree); f != nil {
		return f, nil
	}
	if data, err = object.Encode(tree); err != nil {
		return nil, err
	}
	back, f, err := j.convert(ctx, tree, data, j.from.apiVersion)
	if back == nil {
		return j.wayBack(f), err
	}
	if tree, err = j.read(back, j.from); err == nil {
		err = j.from.Shape.FromStorage(tree)
	}
	if err != nil {
		return j.wayBack(j.failed(err, obj)), nil
	}
	return j.compare(obj, tree), nil
}

// wayBack is what a failed way back comes to; nil where there may be none.
func (j *journey) wayBack(f *finding) *finding {
	if f == nil || j.oneWay {
		return nil
	}
	f.back = true
	return f
}

// convert converts an object, which is of and data; nil is for a failure, also one that
// is known, of which there is no finding.
func (j *journey) convert(ctx context.Context, of map[string]any, data []byte, to string) ([]byte, *finding, error) {
	out, err := j.converter.Convert(ctx, to, [][]byte{data})
	switch {
	case err == nil && len(out) == 1:
		return out[0], nil, nil
	case err == nil:
		return nil, nil, fmt.Errorf("the converter returned %d objects for one", len(out))
	case over(ctx) || j.temporary != nil && j.temporary(err):
		return nil, nil, err
	}
	return nil, j.failed(err, of), nil
}

// over reports whether a context is done, or is about to be: what a converter made of it
// may end a moment before it does, and that is no failure of the converter.
func over(ctx context.Context) bool {
	deadline, ends := ctx.Deadline()
	return ctx.Err() != nil || ends && !time.Now().Before(deadline)
}

// read is what is served of a converted object.
func (j *journey) read(data []byte, at end) (map[string]any, error) {
	tree, _, err := object.Parse(data)
	if err != nil {
		return nil, err
	}
	return tree, at.Shape.FromConversion(tree)
}

// arrived judges the object at its destination.
func (j *journey) arrived(obj, tree map[string]any) *finding {
	for _, name := range []string{"labels", "annotations"} {
		had, got := object.Child(obj, "metadata", name), object.Child(tree, "metadata", name)
		for _, key := range slices.Sorted(maps.Keys(had)) {
			if value, ok := got[key]; !ok || value != had[key] {
				f := &finding{problem: Metadata, place: []any{"metadata", name, key}, had: had[key], hasHad: true, got: value, hasGot: ok}
				if f = j.news(f); f != nil {
					return f
				}
			}
		}
	}
	// Who writes the object there has it completed and judged.
	tree = object.Clone(tree)
	if _, err := j.to.Shape.FromClient(tree, false); err != nil {
		return j.news(&finding{problem: Refused, field: "metadata", message: err.Error()})
	}
	for _, err := range j.to.validate(tree) {
		f := &finding{problem: Refused, field: generic(err.Field), message: err.Error()}
		if f = j.news(f); f != nil {
			return f
		}
	}
	return nil
}

// news is a finding, or nil for one that is known or acknowledged.
func (j *journey) news(f *finding) *finding {
	if f.field == "" && len(f.place) > 0 {
		f.field = j.paths.of(f.place)
	}
	if f.field != "" && Covers(j.acknowledged, f.field) || slices.ContainsFunc(f.keys(), func(k string) bool { return j.found[k] }) {
		return nil
	}
	return f
}

// differs says where two outcomes of one conversion first differ.
func (j *journey) differs(f *finding, one, other []byte) *finding {
	a, _, errA := object.Parse(one)
	b, _, errB := object.Parse(other)
	if errA != nil || errB != nil {
		return f
	}
	for _, d := range differences(a, b) {
		f.place, f.had, f.got, f.hasHad, f.hasGot = d.place, d.had, d.got, d.hasHad, d.hasGot
		f.message = "the same object was converted twice, and " + j.to.Name + " differs at " + placeText(d.place)
		break
	}
	return f
}
