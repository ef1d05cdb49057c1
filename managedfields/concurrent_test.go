package managedfields_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/wasmgate/wasmgate/managedfields"
)

// One kind serves all writes at once; trees and managedFields are shared by
// them and only read.
func TestAKindIsUsedByManyAtOnce(t *testing.T) {
	def := define(t, replicas+","+tags+","+ports, sizes)
	kind := managedfields.NewKind(def)
	live := body(t, def, "v1", `{"metadata":{"uid":"u","labels":{"l":"1"}},"spec":{"replicas":1,"tags":["x"],"ports":[{"port":1}]}}`)
	config := body(t, def, "v1", `{"spec":{"name":"x","tags":["x","y"],"ports":[{"port":1,"name":"a"},{"port":2}]}}`)
	c := managedfields.Change{Version: "v1", Manager: "a", Time: base, Live: live, New: config}
	c.Versions = &renaming{def, c}
	first, err := kind.Apply(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	want, tree := bytes.Clone(first.Managed), plain(first.Tree)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 100 {
				out, err := kind.Apply(context.Background(), c)
				if err != nil || !bytes.Equal(out.Managed, want) || plain(out.Tree) != tree {
					t.Errorf("%v: %s", err, out.Managed)
					return
				}
				u := c
				u.Manager, u.Live, u.LiveManaged, u.NewManaged = fmt.Sprint("m", i, j), first.Tree, out.Managed, out.Managed
				u.New = live
				u.Versions = &renaming{def, u}
				if out, err = kind.Update(context.Background(), u); err != nil || len(out.Managed) == 0 {
					t.Errorf("%v: %s", err, out.Managed)
				}
			}
		})
	}
	wg.Wait()
}

// broken is a converter that fails, or panics.
type broken struct {
	managedfields.Versions
	panics bool
}

func (b broken) Live(context.Context, string) (map[string]any, error) {
	if b.panics {
		panic("no converter")
	}
	return nil, errors.New("no converter")
}

// A panic goes to who reports it: nothing is decided as if it had not been.
func TestPanicsAreNotHidden(t *testing.T) {
	def := define(t, replicas, sizes)
	kind := managedfields.NewKind(def)
	managed := []byte(`[{"manager":"a","operation":"Apply","apiVersion":"example.com/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:size":{}}}}]`)
	for name, call := range map[string]func(context.Context, managedfields.Change) (managedfields.Outcome, error){"update": kind.Update, "apply": kind.Apply} {
		func() {
			defer func() {
				if p := recover(); p != "no converter" {
					t.Errorf("%s: %v", name, p)
				}
			}()
			out, err := call(context.Background(), managedfields.Change{
				Version: "v1", Manager: "b", Time: base, LiveManaged: managed, NewManaged: managed, Versions: broken{panics: true},
				Live: body(t, def, "v1", `{"metadata":{"uid":"u"},"spec":{"replicas":1}}`),
				New:  body(t, def, "v1", `{"metadata":{"uid":"u"},"spec":{"replicas":2}}`),
			})
			t.Errorf("%s: %v, %v", name, out, err)
		}()
	}
}

// Whatever goes wrong on the way, an update keeps the owners that there were,
// and an apply fails.
func TestFailuresOnTheWay(t *testing.T) {
	def := define(t, replicas, sizes)
	kind := managedfields.NewKind(def)
	managed := []byte(`[{"manager":"a","operation":"Apply","apiVersion":"example.com/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:size":{}}}}]`)
	c := managedfields.Change{
		Version: "v1", Manager: "b", Time: base, LiveManaged: managed, NewManaged: managed, Versions: broken{},
		Live: body(t, def, "v1", `{"metadata":{"uid":"u"},"spec":{"replicas":1}}`),
		New:  body(t, def, "v1", `{"metadata":{"uid":"u"},"spec":{"replicas":2}}`),
	}
	out, err := kind.Update(context.Background(), c)
	if err != nil || !bytes.Equal(out.Managed, managed) || !out.SameOwners {
		t.Errorf("%v: %s, same %v", err, out.Managed, out.SameOwners)
	}
	if out, err = kind.Apply(context.Background(), c); err == nil || out.Tree != nil || err.Error() != "no converter" {
		t.Errorf("an apply that cannot convert: %v %+v", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = kind.Update(ctx, c); err != context.Canceled {
		t.Errorf("an update that is given up: %v", err)
	}
	if _, err = kind.Apply(ctx, c); err != context.Canceled {
		t.Errorf("an apply that is given up: %v", err)
	}
	c.LiveManaged = []byte(`[{"manager":"a"}]`)
	if _, err = kind.Apply(context.Background(), c); err == nil ||
		err.Error() != "failed to decode managed fields: managedFields entry 0: operation must be `Apply` or `Update`" {
		t.Errorf("an apply to owners that cannot be read: %v", err)
	}
	c.Version = "v3"
	c.New["apiVersion"] = "example.com/v3"
	if _, err = kind.Apply(context.Background(), c); err == nil {
		t.Error("an apply at a version that is not there")
	}
	if out, err = kind.Update(context.Background(), c); err != nil || !bytes.Equal(out.Managed, c.LiveManaged) {
		t.Errorf("an update at a version that is not there: %v %s", err, out.Managed)
	}
	c.Version = "v1"
	if _, err = kind.Apply(context.Background(), c); err == nil || err.Error() != "invalid object type: example.com/v3, Kind=Foo" {
		t.Errorf("an apply of another type: %v", err)
	}
}

// counting counts conversions.
type counting struct {
	renaming
	calls map[string]int
}

func (c *counting) Live(ctx context.Context, v string) (map[string]any, error) {
	c.calls["live"]++
	return c.renaming.Live(ctx, v)
}

func (c *counting) New(ctx context.Context, v string) (map[string]any, error) {
	c.calls["new"]++
	return c.renaming.New(ctx, v)
}

func (c *counting) Convert(ctx context.Context, tree map[string]any, from, to string) (map[string]any, error) {
	c.calls["convert"]++
	return c.renaming.Convert(ctx, tree, from, to)
}

// Conversions are expensive: there are none without need, and none twice.
func TestConversionsAreFew_SSA26(t *testing.T) {
	def := define(t, replicas, sizes)
	kind := managedfields.NewKind(def)
	entry := func(manager, version, field string) string {
		return `{"manager":"` + manager + `","operation":"Apply","apiVersion":"example.com/` + version + `","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:` + field + `":{}}}}`
	}
	old := "[" + entry("a", "v1beta1", "size") + "," + entry("b", "v1beta1", "name") + "]"
	for name, test := range map[string]struct {
		managed, next      string
		apply              bool
		live, new, convert int
	}{
		"an update of an object with old owners":       {old, `{"metadata":{"uid":"u"},"spec":{"replicas":2}}`, false, 1, 1, 0},
		"one that changes nothing":                     {old, `{"metadata":{"uid":"u"},"spec":{"replicas":1}}`, false, 0, 0, 0},
		"one of an object whose owners are of now":     {"[" + entry("a", "v1", "replicas") + "]", `{"metadata":{"uid":"u"},"spec":{"replicas":2}}`, false, 0, 0, 0},
		"one of an object whose owners are of no more": {"[" + entry("a", "v0", "replicas") + "]", `{"metadata":{"uid":"u"},"spec":{"replicas":2}}`, false, 0, 0, 0},
		"an apply to an object with old owners":        {old, `{"metadata":{"labels":{"l":"1"}}}`, true, 1, 0, 1},
		"one that changes nothing of it":               {old, `{"spec":{"replicas":1}}`, true, 0, 0, 0},
		"one that leaves nothing out of what it set":   {"[" + entry("w", "v1", "name") + "," + entry("a", "v1beta1", "size") + "]", `{"spec":{"name":"x"}}`, true, 1, 0, 1},
		"one that leaves out what nobody has":          {"[" + entry("w", "v1", "name") + "," + entry("a", "v1beta1", "size") + "]", `{"spec":{"replicas":1}}`, true, 0, 0, 0},
		"one of who applied at another version":        {"[" + entry("w", "v1beta1", "name") + "]", `{"spec":{"name":"x"}}`, true, 0, 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			c := managedfields.Change{
				Version: "v1", Manager: "w", Time: base, LiveManaged: []byte(test.managed), NewManaged: []byte(test.managed),
				Live: body(t, def, "v1", `{"metadata":{"uid":"u"},"spec":{"replicas":1}}`), New: body(t, def, "v1", test.next),
			}
			v := &counting{renaming{def, c}, map[string]int{}}
			c.Versions = v
			call := kind.Update
			if test.apply {
				call = kind.Apply
			}
			if _, err := call(context.Background(), c); err != nil {
				t.Fatal(err)
			}
			if v.calls["live"] != test.live || v.calls["new"] != test.new || v.calls["convert"] != test.convert {
				t.Errorf("conversions: %v", v.calls)
			}
		})
	}
}
