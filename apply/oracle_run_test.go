package apply_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/apply"
)

// object is what is stored: a tree at version v1, without managedFields, and
// these.
type object struct {
	tree    map[string]any
	managed []byte
}

// run is one case on its way. Its state always goes on from what the oracle
// says, so that one difference makes no others.
type run struct {
	c      *oracleCase
	worlds []*world
	world  *world
	live   *object        // nil: there is none
	seen   map[string]int // what has been compared, to see that it is enough
}

func newRun(c *oracleCase) (*run, error) {
	r := &run{c: c, seen: map[string]int{}}
	for i := range c.Definitions {
		w, err := newWorld(&c.Definitions[i])
		if err != nil {
			return nil, err
		}
		r.worlds = append(r.worlds, w)
	}
	if len(r.worlds) == 0 {
		return nil, fmt.Errorf("no definition")
	}
	r.world = r.worlds[0]
	return r, nil
}

// runCase runs all operations and returns the first difference. It must run
// where time.Now is the test's own.
func runCase(c *oracleCase) (*difference, error) {
	r, err := newRun(c)
	if err != nil {
		return nil, err
	}
	for i := range c.Ops {
		if err := r.step(&c.Ops[i]); err != nil {
			var d *difference
			if errors.As(err, &d) {
				return d, nil
			}
			return nil, fmt.Errorf("op %d: %w", i, err)
		}
	}
	return nil, nil
}

// step does one operation on both sides. What cannot be asked for is skipped.
func (r *run) step(op *oracleOp) error {
	time.Sleep(time.Duration(op.Seconds) * time.Second)
	if op.Body == nil {
		op.Body = oracleTree{}
	}
	if op.Do == "redefine" {
		if op.Definition < 0 || op.Definition >= len(r.worlds) {
			return fmt.Errorf("no definition %d", op.Definition)
		}
		r.world = r.worlds[op.Definition]
		return nil
	}
	live, ok := r.at(op.Version)
	if !ok || op.Manager == "" || (op.Do == "create") != (r.live == nil) && op.Do != "apply" {
		return nil
	}
	if op.Subresource != "" && (live == nil || !r.world.from.version(op.Version).Status) {
		return nil
	}
	if r.world.omitsKeys(op.Version, op.Body) {
		return nil
	}
	switch op.Do {
	case "apply":
		return r.apply(op, live)
	case "create", "update":
		return r.update(op, live)
	}
	return fmt.Errorf("nobody knows how to %q", op.Do)
}

// at is the present tree at a version, nil if there is no object; false if
// nothing can be asked at that version.
func (r *run) at(version string) (map[string]any, bool) {
	v := r.world.def.Version(version)
	if v == nil {
		return nil, false
	}
	if r.live == nil {
		return nil, true
	}
	stored := cloneTree(r.live.tree)
	if err := r.world.def.Version(oracleStorage).Shape.FromStorage(stored); err != nil {
		return nil, false
	}
	out, err := r.world.from.convert(stored, oracleStorage, version)
	if err != nil {
		return nil, false
	}
	out = cloneTree(out)
	return out, v.Shape.FromStorage(out) == nil
}

// change is op as both sides are asked to do it.
func (r *run) change(op *oracleOp, live map[string]any, body map[string]any) apply.Change {
	c := apply.Change{
		Version: op.Version, Subresource: op.Subresource, Manager: op.Manager, Force: op.Force,
		Time: time.Now().UTC(), Live: live, New: body,
	}
	if r.live != nil {
		c.LiveManaged, c.NewManaged = r.live.managed, r.live.managed
	}
	if len(op.Managed) > 0 {
		c.NewManaged = op.Managed
	}
	c.Versions = &versions{r.world.from, c}
	return c
}

// versions gives a definition's conversion to ours.
type versions struct {
	*oracleDefinition
	of apply.Change
}

func (v *versions) Live(ctx context.Context, version string) (map[string]any, error) {
	return v.Convert(ctx, v.of.Live, v.of.Version, version)
}

func (v *versions) New(ctx context.Context, version string) (map[string]any, error) {
	return v.Convert(ctx, v.of.New, v.of.Version, version)
}

func (v *versions) Convert(_ context.Context, tree map[string]any, from, to string) (map[string]any, error) {
	if v.version(from) == nil || v.version(to) == nil {
		return nil, fmt.Errorf("from %s to %s: %w", from, to, apply.ErrNoVersion)
	}
	return v.convert(tree, from, to)
}

func (r *run) update(op *oracleOp, live map[string]any) error {
	body, ok := r.body(op, live)
	if !ok {
		return nil
	}
	c := r.change(op, live, body)
	newObj, err := r.world.withManaged(body, c.NewManaged)
	if err != nil {
		return nil // metadata that nobody would have let through
	}
	liveObj, err := r.world.withManaged(live, c.LiveManaged)
	if err != nil {
		return err
	}
	if live == nil {
		liveObj = r.empty(op.Version)
	}
	oracle, err := r.world.oracle(op.Version, op.Subresource)
	if err != nil {
		return err
	}
	want := c.LiveManaged
	out, failed := oracle.Update(liveObj, newObj, op.Manager)
	if failed == nil {
		if want, err = managedOf(out.(*unstructured.Unstructured)); err != nil {
			return err
		}
	}
	r.count(op, failed, c.LiveManaged, want)
	found := r.compareUpdate(c, want, failed)
	if failed == nil {
		r.store(op, live, body, want)
	}
	return found
}

func (r *run) compareUpdate(c apply.Change, want []byte, failed error) error {
	got, err := r.ours(c, func(ctx context.Context) (apply.Outcome, error) { return r.world.kind.Update(ctx, c) })
	switch {
	case isDifference(err):
		return err
	case err != nil && failed != nil:
		return nil // ours may refuse what validation will
	case err != nil:
		return differ("refusal", "the oracle accepts, ours says: %v", err)
	case got.Tree != nil:
		return differ("tree", "an update has no tree of its own: %s", asJSON(got.Tree))
	}
	return compareManaged(got, c.LiveManaged, want)
}

func (r *run) apply(op *oracleOp, live map[string]any) error {
	body := cloneTree(op.Body)
	c := r.change(op, live, body)
	c.NewManaged = nil
	liveObj, err := r.world.withManaged(live, c.LiveManaged)
	if err != nil {
		return err
	}
	if live == nil {
		liveObj = r.empty(op.Version)
	}
	oracle, err := r.world.oracle(op.Version, op.Subresource)
	if err != nil {
		return err
	}
	out, failed := oracle.Apply(liveObj, &unstructured.Unstructured{Object: cloneTree(body)}, op.Manager, op.Force)
	r.count(op, failed, nil, nil)
	if failed != nil {
		return r.compareApply(c, nil, nil, failed)
	}
	result := out.(*unstructured.Unstructured)
	want, err := managedOf(result)
	if err != nil {
		return err
	}
	unstructured.RemoveNestedField(result.Object, "metadata", "managedFields")
	found := r.compareApply(c, result.Object, want, nil)
	r.store(op, live, result.Object, want)
	return found
}

func (r *run) compareApply(c apply.Change, tree map[string]any, managed []byte, failed error) error {
	got, err := r.ours(c, func(ctx context.Context) (apply.Outcome, error) { return r.world.kind.Apply(ctx, c) })
	if isDifference(err) {
		return err
	}
	if failed != nil || err != nil {
		return compareRefusals(err, failed)
	}
	if !sameTree(got.Tree, tree) {
		return differ("tree", "\nours   %s\noracle %s", asJSON(got.Tree), asJSON(tree))
	}
	return compareManaged(got, c.LiveManaged, managed)
}

// ours calls our side, and sees to it that it only reads what it is given.
func (r *run) ours(c apply.Change, call func(context.Context) (apply.Outcome, error)) (apply.Outcome, error) {
	before, liveManaged, newManaged := [2]map[string]any{cloneTree(c.Live), cloneTree(c.New)}, bytes.Clone(c.LiveManaged), bytes.Clone(c.NewManaged)
	out, err := call(context.Background())
	if !reflect.DeepEqual(before, [2]map[string]any{cloneTree(c.Live), cloneTree(c.New)}) ||
		!bytes.Equal(liveManaged, c.LiveManaged) || !bytes.Equal(newManaged, c.NewManaged) {
		return out, differ("input", "a tree or managedFields that are only to be read were changed")
	}
	return out, err
}

func (r *run) empty(version string) *unstructured.Unstructured {
	out, _ := emptyObjects{r.world.def}.New(r.world.def.GVK(version))
	return out.(*unstructured.Unstructured)
}
