package managedfields

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// ProcessorTime is the processor time that this process took, which a busy machine does not lengthen.
func ProcessorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Sets that clients send are read in time that is proportional to them, in
// whatever order their fields are.
func TestFieldsInAnyOrderAreReadInTime_SSA01(t *testing.T) {
	const n = 200_000
	raw := []byte{'{'}
	for i := range n {
		raw = fmt.Appendf(raw, `"f:%06d":{},"f:x%06d":{"f:a":{}},`, n-i, n-i)
	}
	raw[len(raw)-1] = '}'
	start := ProcessorTime()
	set, err := readSet(raw)
	if err != nil || set.Size() != 2*n {
		t.Fatal(set.Size(), err)
	}
	if took := ProcessorTime() - start; took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// Thousands of managers that a client sends are merged without copying what
// they own thousands of times.
func TestManyManagersAreMergedInTime_SSA09(t *testing.T) {
	const n = 20_000
	var es entries
	for i := range n {
		set := &fieldpath.Set{}
		set.Insert(fieldpath.MakePathOrDie("spec", fmt.Sprintf("f%06d", i)))
		fields, err := sets.of(set)
		if err != nil {
			t.Fatal(err)
		}
		es = append(es, entry{id: identify(fmt.Sprint("m", i), opUpdate, "v1", ""), version: "v1", fields: fields})
	}
	start := ProcessorTime()
	out, err := capUpdates(es)
	if err != nil || len(out) != maxUpdateManagers {
		t.Fatal(len(out), err)
	}
	if took := ProcessorTime() - start; took > time.Minute {
		t.Errorf("it took %v", took)
	}
	i := out.find(identify(bucketManager, opUpdate, "v1", ""))
	if i < 0 || out[i].fields.set.Size() != n-maxUpdateManagers+1 {
		t.Errorf("the bucket holds %v", i)
	}
}

// Sets are written only as deep as they can be read again, and what is that
// deep can be read.
func TestSetsAreAsDeepAsTheyCanBeReadAgain_SSA01(t *testing.T) {
	deep := func(n int) *fieldpath.Set {
		name := "a"
		var p fieldpath.Path
		for range n {
			p = append(p, fieldpath.PathElement{FieldName: &name})
		}
		set := &fieldpath.Set{}
		set.Insert(p)
		return set
	}
	raw, _, err := encodeSet(deep(maxSetDepth))
	if err != nil {
		t.Fatal(err)
	}
	set, err := readSet(raw)
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := encodeSet(set); err != nil || !bytes.Equal(raw, again) {
		t.Error("another set", err)
	}
	for n := maxSetDepth - 2; n < maxSetDepth+4; n++ {
		raw, _, err := encodeSet(deep(n))
		if err != nil {
			raw = []byte(strings.Repeat(`{"f:a":`, n) + "{}" + strings.Repeat("}", n))
		}
		if _, unread := readSet(raw); (err == nil) != (unread == nil) {
			t.Errorf("%d deep: written %v, read %v", n, err, unread)
		}
	}
	if _, _, err := encodeSet(deep(maxSetDepth + 2)); err == nil {
		t.Error("a set that cannot be read was written")
	}
}

// Conflicts are told of as long as their paths are not far longer than what was
// sent; all of them count.
func TestConflictsAreToldWithinBounds_SSA08(t *testing.T) {
	long := strings.Repeat("k", 100_000)
	set, some := &fieldpath.Set{}, &fieldpath.Set{}
	for i := range 2000 {
		p := fieldpath.MakePathOrDie(long, fmt.Sprint(i))
		set.Insert(p)
		if i != 7 {
			some.Insert(p)
		}
	}
	c := conflictsOf(entries{{id: identify("m", opApply, "", "")}}, []claim{{conflicts: set}})
	var status apierrors.APIStatus
	if !errors.As(c.status(), &status) {
		t.Fatal("no status")
	}
	s := status.Status()
	if len(s.Message) > 2*maxTold || !strings.HasPrefix(s.Message, "Apply failed with 2000 conflicts: conflicts with \"m\":\n- .kkk") ||
		!strings.HasSuffix(s.Message, "\nand 1989 more") || len(s.Details.Causes) != 11 {
		t.Errorf("%d bytes, %d causes, …%s", len(s.Message), len(s.Details.Causes), s.Message[len(s.Message)-20:])
	}
	if left := c.without(some); left.Error() != `Apply failed with 1 conflict: conflict with "m": .`+long+".7" {
		t.Errorf("left: %.200s", left.Error())
	}
	if left := c.without(set); len(left.list) != 0 {
		t.Errorf("left: %d", len(left.list))
	}
}

// The bucket of old changes goes, as it does in kube-apiserver, when it is
// itself one of those that are merged.
func TestTheBucketMayBeAmongTheOldest_SSA05(t *testing.T) {
	var es entries
	for i := range maxUpdateManagers + 2 {
		set := &fieldpath.Set{}
		set.Insert(fieldpath.MakePathOrDie("spec", fmt.Sprint("f", i)))
		fields, err := sets.of(set)
		if err != nil {
			t.Fatal(err)
		}
		manager := fmt.Sprint("m", i)
		if i == 2 {
			manager = bucketManager
		}
		at := time.Unix(int64(i), 0)
		es = append(es, entry{id: identify(manager, opUpdate, "v1", ""), version: "v1", fields: fields, at: &at})
	}
	out, err := capUpdates(es)
	if err != nil || len(out) != maxUpdateManagers {
		t.Fatal(len(out), err)
	}
	out.sort()
	for i, e := range out {
		want := fmt.Sprint("m", i+2)
		if i == 0 {
			want = "m0"
		}
		if e.id.manager != want || e.fields.set.Size() != 1 {
			t.Errorf("%d: %q with %v, not %s", i, e.id.manager, e.fields.set, want)
		}
	}
}

// A set is kept as it is written where reading that makes the same one: integers are no more
// exact there than floats are.
func TestWhichSetsAreWrittenExactly(t *testing.T) {
	const most = 1 << 53
	for name, c := range map[string]struct {
		set   *fieldpath.Set
		exact bool
	}{
		"fields":                       {fieldpath.NewSet(fieldpath.MakePathOrDie("a", "b")), true},
		"indexes":                      {fieldpath.NewSet(fieldpath.MakePathOrDie("a", 3)), true},
		"texts":                        {fieldpath.NewSet(fieldpath.MakePathOrDie("a", value.NewValueInterface("x"))), true},
		"the largest integer":          {fieldpath.NewSet(fieldpath.MakePathOrDie("a", value.NewValueInterface(int64(most)))), true},
		"the smallest integer":         {fieldpath.NewSet(fieldpath.MakePathOrDie("a", value.NewValueInterface(int64(-most)))), true},
		"a larger one":                 {fieldpath.NewSet(fieldpath.MakePathOrDie("a", value.NewValueInterface(int64(most+1)))), false},
		"a smaller one":                {fieldpath.NewSet(fieldpath.MakePathOrDie("a", value.NewValueInterface(int64(-most-1)))), false},
		"keys":                         {fieldpath.NewSet(fieldpath.MakePathOrDie("a", fieldpath.KeyByFields("k", int64(most)))), true},
		"keys with a larger one":       {fieldpath.NewSet(fieldpath.MakePathOrDie("a", fieldpath.KeyByFields("j", "x", "k", int64(most+1)))), false},
		"what is below keys like that": {fieldpath.NewSet(fieldpath.MakePathOrDie("a", fieldpath.KeyByFields("k", int64(most+1)), "b")), false},
	} {
		if _, exact, err := encodeSet(c.set); err != nil || exact != c.exact || lossySet(c.set) == c.exact {
			t.Errorf("%s: exact is %v, %v", name, exact, err)
		}
	}
}

// What was read of a set is remembered, whatever its length, up to a bound.
func TestSetsAreRemembered(t *testing.T) {
	for n, want := range map[int]bool{1: true, longSet - 1: true, longSet: true, longSet + 1: true, maxRememberedSet: true, maxRememberedSet + 1: false} {
		c := &fieldSets{long: &fieldSets{}}
		raw := bytes.Repeat([]byte("x"), n)
		c.put(raw, remembered{fieldSet: &fieldSet{}})
		if got := c.get(raw); (got.fieldSet != nil) != want {
			t.Errorf("a set of %d bytes is remembered: %v", n, !want)
		}
	}
}
