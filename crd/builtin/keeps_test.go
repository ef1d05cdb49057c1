package builtin

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/crdtest"
	"github.com/wasmgate/wasmgate/crd/object"
)

// FuzzGoTypes holds what is told of trees without Go objects to what Go objects say.
func FuzzGoTypes(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	defs := definitions(f)
	var trees, completed, kept int
	f.Cleanup(func() {
		if trees > 1000 && (completed < trees/4 || kept < completed/2) { // not in the processes that look for more
			f.Errorf("of %d trees %d were completed and %d kept", trees, completed, kept)
		}
	})
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		for _, name := range slices.Sorted(maps.Keys(defs)) {
			def := defs[name]
			c, ok := def.Codec.(*codec)
			if !ok {
				continue
			}
			for _, v := range def.Versions {
				if s, ok := v.Shape.(*shape); ok {
					whole, asIs := compared(t, c, s, made(r, reflect.TypeOf(s.fresh()), c.gvk.GroupVersion().String(), c.gvk.Kind))
					trees++
					completed += one(whole)
					kept += one(asIs)
				}
			}
		}
	})
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// compared tells whether a tree was completed, and whether it is kept.
func compared(t *testing.T, c *codec, s *shape, tree map[string]any) (completed, kept bool) {
	whole := object.Clone(tree)
	if completed = s.of.Complete(whole); completed {
		read := object.Clone(tree)
		unknown, err := s.read(read, true)
		if err != nil || len(unknown) > 0 || !same(read, whole) {
			t.Fatalf("completed %v\nread      %v\nas sent   %v\n%v %v", whole, read, tree, unknown, err)
		}
		tree = whole
	}
	if kept = c.Keeps(tree); kept {
		stored, err := c.Encode(object.Clone(tree))
		if err != nil {
			t.Fatalf("%v: %v", tree, err)
		}
		if back, err := c.Decode(stored); err != nil || !same(back, tree) {
			t.Fatalf("read back %v\nkept      %v\n%v", back, tree, err)
		}
	}
	return completed, kept
}

// same is object.Equal, for which 1 and 1.0 are not alike, nor managers of other bytes.
func same(a, b map[string]any) bool { return object.Equal(a, b) && reflect.DeepEqual(a, b) }

// made is a tree of a Go type, in which little is as it should be.
func made(r *rand.Rand, t reflect.Type, apiVersion, kind string) map[string]any {
	odd := 0
	if r.IntN(2) == 0 {
		odd = 1 + r.IntN(60)
	}
	m := maker{r, odd}
	tree, _ := m.value(t, 6).(map[string]any)
	if tree == nil {
		tree = map[string]any{}
	}
	tree["apiVersion"], tree["kind"] = apiVersion, kind
	return tree
}

// maker makes values, one in odd of which is not of its type; 0 makes none such.
type maker struct {
	*rand.Rand
	odd int
}

var someTexts = []string{
	"", "a", "b c", "1", "0", "100m", "1000m", "1k", "1000", "1024", "1024Ki", "1Ki", "64Mi", "1.5", "1e3", "5u", "01", "12345678901", "-1", "0m", "1P", "80%",
	"2020-01-02T03:04:05Z", "2020-01-02T03:04:05+02:00", "1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "2020-01-02T03:04:05.000006Z", "2020-01-02T03:04:05.000000Z",
	"1970-01-01T00:00:00.000000Z", "2020-01-02T24:04:05Z", "YQ==", "YR==", "YWI=", "YWJj", "YQ=\n=", "YQ", "====", "=", "<&>", "\xff", "é\u2028",
}

var goodTexts = map[string][]any{
	"Time":        {"2020-01-02T03:04:05Z", "1969-12-31T23:59:59Z", nil},
	"MicroTime":   {"2020-01-02T03:04:05.000006Z", "2020-01-02T03:04:05.000000Z", nil},
	"Quantity":    {"1", "100m", "64Mi", "0", "1500", "12Ki", "7P", int64(1)},
	"IntOrString": {"80%", int64(80), int64(0), "", nil},
}

func (m maker) any() any {
	return []any{nil, "", "a", int64(0), int64(1), int64(1) << 40, 1.0, 0.5, true, false, map[string]any{}, map[string]any{"a": "b"}, map[string]any{"a": nil}, []any{}, []any{nil}, []any{"a"}, []any{map[string]any{}}}[m.IntN(17)]
}

func (m maker) value(t reflect.Type, depth int) any {
	if m.odd > 0 && m.IntN(m.odd) == 0 {
		return m.any()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.value(t.Elem(), depth)
	case reflect.Bool:
		return m.IntN(2) == 0
	case reflect.String:
		return someTexts[m.IntN(4)]
	case reflect.Int32, reflect.Int64:
		return []int64{0, 1, -1, 1 << 31}[m.IntN(3+m.IntN(2))]
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			break
		}
		list := []any{}
		for range m.IntN(3) {
			list = append(list, m.value(t.Elem(), depth-1))
		}
		return list
	case reflect.Map:
		entries := map[string]any{}
		for range m.IntN(3) {
			entries[someTexts[m.IntN(3)]] = m.value(t.Elem(), depth-1)
		}
		return entries
	case reflect.Struct:
		if t.NumField() > 0 && !strings.Contains(t.PkgPath(), "apimachinery") || t.Name() == "ObjectMeta" || t.Name() == "LabelSelector" {
			tree := map[string]any{}
			m.fields(tree, t, depth)
			return tree
		}
		if good := goodTexts[t.Name()]; good != nil && m.IntN(20) > 0 {
			return good[m.IntN(len(good))]
		}
	}
	return someTexts[m.IntN(len(someTexts))]
}

// fields gives a struct some of its fields, and seldom one that it does not have.
func (m maker) fields(tree map[string]any, t reflect.Type, depth int) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		switch {
		case name == "" && t.Field(i).Type.Kind() == reflect.Struct:
			m.fields(tree, t.Field(i).Type, depth)
		case name != "" && depth > 0 && m.IntN(depth+2) > 2:
			tree[name] = m.value(t.Field(i).Type, depth-1)
		}
	}
	if m.odd > 0 && m.IntN(20*m.odd) == 0 {
		tree["x"] = m.any()
	}
}

// TestGoTypesAreNotNeeded holds that what kube-apiserver stores is known to be kept, and
// is completed where it lacks what nobody says, without a Go object.
func TestGoTypesAreNotNeeded(t *testing.T) {
	defs := definitions(t)
	seen := 0
	for name, g := range goldens(t) {
		def := defs[name]
		if def == nil {
			continue
		}
		c, ok := def.Codec.(*codec)
		if !ok {
			continue
		}
		tree, err := c.Decode(g.Stored)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		if before := object.Clone(tree); c.Keeps(tree) != (c.stored == c.gvk) || !same(tree, before) {
			t.Errorf("%s: whether it is kept is not known, or it changed: %v", name, tree)
		}
		managed := object.Detach(tree)
		sent := object.Clone(tree)
		sent["metadata"].(map[string]any)["labels"] = map[string]any{}
		sent["metadata"].(map[string]any)["deletionTimestamp"] = nil
		delete(tree["metadata"].(map[string]any), "labels")
		if !def.At(c.gvk.GroupVersion().String()).Shape.(*shape).of.Complete(sent) || !same(sent, tree) {
			t.Errorf("%s: completed to %v, not to %v", name, sent, tree)
		}
		for _, odd := range []string{"resourceVersion", "selfLink"} {
			object.SetManaged(tree, managed)
			tree["metadata"].(map[string]any)[odd] = "1"
			if c.Keeps(tree) {
				t.Errorf("%s: its %s is said to be kept", name, odd)
			}
			delete(tree["metadata"].(map[string]any), odd)
		}
		tree["apiVersion"] = "other/v1"
		if c.Keeps(tree) {
			t.Errorf("%s: another version is said to be kept", name)
		}
	}
	if seen < 12 {
		t.Errorf("%d kinds have objects to look at", seen)
	}
}

// BenchmarkGoTypes measures what a pod takes to be read as it was sent and as it was stored,
// with what asks whether that needs its Go type and without.
func BenchmarkGoTypes(b *testing.B) {
	def := definitions(b)["pod"]
	c, s := def.Codec.(*codec), def.Versions[0].Shape.(*shape)
	sent := crdtest.Parse(b, []byte(everydayPod))
	whole := object.Clone(sent)
	if !s.of.Complete(whole) || !c.Keeps(whole) {
		b.Fatal("the pod needs its Go type")
	}
	stored, err := c.Encode(whole)
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"sent/asked":     func() error { s.of.Complete(object.Clone(sent)); return nil },
		"sent/typed":     func() error { _, err := s.read(object.Clone(sent), true); return err },
		"stored/asked":   func() error { c.Keeps(whole); object.Clone(whole); return nil },
		"stored/decoded": func() error { _, err := c.Decode(stored); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
