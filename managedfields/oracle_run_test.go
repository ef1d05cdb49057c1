package managedfields_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/managedfields"
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
	worlds, err := newWorlds(c.Definitions)
	if err != nil {
		return nil, err
	}
	return runIn(worlds, c), nil
}

func runIn(worlds []*world, c *oracleCase) *run {
	return &run{c: c, worlds: worlds, world: worlds[0], seen: map[string]int{}}
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
	if op.Seconds > 0 {
		<-time.After(time.Duration(op.Seconds) * time.Second) // by the bubble's clock, which stamps both sides
	}
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
	if r.world.oddItems(op.Version, op.Body) {
		return nil
	}
	switch op.Do {
	case "apply":
		c := r.change(op, live, cloneTree(op.Body))
		return r.do(op, c)
	case "create", "update":
		body, ok := r.body(op, live)
		if !ok {
			return nil
		}
		c := r.change(op, live, body)
		if _, err := r.world.withManaged(body, c.NewManaged); err != nil {
			return nil // metadata that nobody would have let through
		}
		return r.do(op, c)
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
func (r *run) change(op *oracleOp, live map[string]any, body map[string]any) managedfields.Change {
	c := managedfields.Change{
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
	of managedfields.Change
}

func (v *versions) Live(ctx context.Context, version string) (map[string]any, error) {
	return v.Convert(ctx, v.of.Live, v.of.Version, version)
}

func (v *versions) New(ctx context.Context, version string) (map[string]any, error) {
	return v.Convert(ctx, v.of.New, v.of.Version, version)
}

func (v *versions) Convert(_ context.Context, tree map[string]any, from, to string) (map[string]any, error) {
	if v.version(from) == nil || v.version(to) == nil {
		return nil, fmt.Errorf("from %s to %s: %w", from, to, managedfields.ErrNoVersion)
	}
	return v.convert(tree, from, to)
}

// answer is what the oracle says of a change.
type answer struct {
	tree    map[string]any // of an apply
	managed []byte
	err     error
}

// oracleMoods is how often the oracle is asked again.
const oracleMoods = 20

// leftNull is how the oracle fails over an item of its own making: of one that
// is owned but has no owned field left, pruning leaves a null. Ours leaves its
// keys.
const leftNull = "associative list with keys may not have a null element"

// do does a change on both sides and goes on from what the oracle says.
func (r *run) do(op *oracleOp, c managedfields.Change) error {
	want, err := r.ask(op, c, strict)
	if err != nil {
		return err
	}
	r.count(op, want, c.LiveManaged)
	call := r.world.kind.Update
	if op.Do == "apply" {
		call = r.world.kind.Apply
	}
	got, failed := r.ours(c, call)
	found := compare(op, c, got, failed, want)
	for range oracleMoods {
		// With three versions, what the oracle says can depend on the order in
		// which it walks a map. Ours has to be one of its answers.
		if found == nil {
			break
		}
		again, err := r.ask(op, c, strict)
		if err != nil {
			return err
		}
		if compare(op, c, got, failed, again) == nil {
			want, found = again, nil
		}
	}
	for mood := lenient; found != nil && want.err != nil && mood <= pruning; mood++ {
		// Ours may convert less, and take more of what it gets; then it has to
		// say what the oracle says without that obstacle.
		otherwise, err := r.ask(op, c, mood)
		if err != nil {
			return err
		}
		if better := compare(op, c, got, failed, otherwise); better == nil || failed == nil {
			found = better
		}
	}
	if want.err != nil && failed == nil && strings.HasSuffix(want.err.Error(), leftNull) {
		return nil
	}
	if op.Do != "apply" { // an update is of what was sent
		want.tree, got.Tree = c.New, c.New
	}
	if found != nil && failed == nil && r.world.loses(op.Version, got.Tree) {
		found = nil // whoever converts less has more of it
	}
	if want.err != nil {
		return found
	}
	r.store(op, c.Live, want.tree, want.managed)
	return found
}

// ask asks the oracle in a mood.
func (r *run) ask(op *oracleOp, c managedfields.Change, m mood) (answer, error) {
	oracle, err := r.world.oracle(op.Version, op.Subresource, m)
	if err != nil {
		return answer{}, err
	}
	liveObj := r.empty(op.Version)
	if c.Live != nil {
		if liveObj, err = r.world.withManaged(c.Live, c.LiveManaged); err != nil {
			return answer{}, err
		}
	}
	var out runtime.Object
	if op.Do == "apply" {
		out, err = oracle.Apply(liveObj, &unstructured.Unstructured{Object: cloneTree(c.New)}, op.Manager, op.Force)
	} else {
		newObj, broken := r.world.withManaged(c.New, c.NewManaged)
		if broken != nil {
			return answer{}, broken
		}
		out, err = oracle.Update(liveObj, newObj, op.Manager)
	}
	if err != nil {
		// An update goes on with the managedFields that there were.
		return answer{managed: c.LiveManaged, err: err}, nil
	}
	u := out.(*unstructured.Unstructured)
	managed, err := managedOf(u)
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	return answer{tree: u.Object, managed: managed}, err
}

// ours calls our side, and sees to it that it only reads what it is given.
func (r *run) ours(c managedfields.Change, call func(context.Context, managedfields.Change) (managedfields.Outcome, error)) (managedfields.Outcome, error) {
	before, liveManaged, newManaged := [2]map[string]any{cloneTree(c.Live), cloneTree(c.New)}, bytes.Clone(c.LiveManaged), bytes.Clone(c.NewManaged)
	out, err := call(context.Background(), c)
	if !reflect.DeepEqual(before, [2]map[string]any{cloneTree(c.Live), cloneTree(c.New)}) ||
		!bytes.Equal(liveManaged, c.LiveManaged) || !bytes.Equal(newManaged, c.NewManaged) {
		return out, differ("input", "a tree or managedFields that are only to be read were changed")
	}
	return out, err
}

func (r *run) empty(version string) *unstructured.Unstructured {
	out, err := emptyObjects{r.world.def}.New(r.world.def.GVK(version))
	if err != nil {
		return &unstructured.Unstructured{}
	}
	return out.(*unstructured.Unstructured)
}
