package merge

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processorTime is the processor time that this process took, which a busy machine does not lengthen.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// What is far down is not reached from the top for each field. The bound is far
// from what it takes, and from what that would take.
func TestManyFieldsFarDownAreComparedInTime_SSA01(t *testing.T) {
	const depth, n = 9000, 100_000
	far := map[string]any{}
	for i := range n {
		far[fmt.Sprint(i)] = int64(1)
	}
	for range depth {
		far = map[string]any{"a": far}
	}
	start := processorTime()
	d := deducedType.Compare(map[string]any{}, far)
	if d.Added.Size() != n+depth || !d.Removed.Empty() || !d.Modified.Empty() {
		t.Errorf("%d are added", d.Added.Size())
	}
	if took := processorTime() - start; took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// Violations are told of as long as their paths are not far longer than what
// was sent.
func TestViolationsAreToldWithinBounds_SSA08(t *testing.T) {
	bad := map[string]any{}
	for i := range 2000 {
		bad[fmt.Sprint(i)] = int64(i)
	}
	object := func(element *Type) *Type { return &Type{object: &objectType{element: element}} }
	err := object(object(&Type{scalar: text})).Validate(map[string]any{strings.Repeat("k", 100_000): bad}, true)
	var v Violations
	if !errors.As(err, &v) || len(v) == 0 || len(err.Error()) > 2*maxPaths {
		t.Errorf("%d bytes about %d violations", len(fmt.Sprint(err)), len(v))
	}
	if err = object(&Type{scalar: text}).Validate(bad, true); !errors.As(err, &v) || len(v) != 2000 {
		t.Errorf("told of %d", len(v))
	}
}
