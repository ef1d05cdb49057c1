package managedfields_test

import (
	"context"
	"fmt"
	"maps"
	"syscall"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/managedfields"
)

// bench is a write of an object of about 1.2 KB (as sent), or of one with 60
// items, by this package and by apimachinery's own field manager.
type bench struct {
	name    string
	manager string
	apply   bool
	items   int
	create  bool
	change  func(spec map[string]any)
}

func field(key, value string) func(map[string]any) {
	return func(spec map[string]any) { spec[key] = value }
}

var benches = []bench{
	{name: "usual update", manager: "controller", change: field("image", "v2")},
	{name: "update of what another owns", manager: "controller", change: field("field3", "mine")},
	{name: "update that changes nothing", manager: "controller", change: func(map[string]any) {}},
	{name: "create", manager: "controller", create: true, change: field("image", "v2")},
	{name: "apply of one change", manager: "gitops", apply: true, change: field("field1", "new")},
	{name: "apply of nothing new", manager: "gitops", apply: true, change: func(map[string]any) {}},
	{name: "apply without a field of before", manager: "gitops", apply: true, change: func(spec map[string]any) { delete(spec, "field1") }},
	{name: "first apply", manager: "other", apply: true, change: func(map[string]any) {}},
	{name: "update of one of 60 items", manager: "controller", items: 60, change: changeItem},
	{name: "apply of one of 60 items", manager: "gitops", items: 60, apply: true, change: changeItem},
	{name: "apply of the same 60 items", manager: "gitops", items: 60, apply: true, change: func(map[string]any) {}},
}

func changeItem(spec map[string]any) {
	spec["ports"].([]any)[30].(map[string]any)["description"] = "another"
}

func BenchmarkWrites(b *testing.B) {
	for _, one := range benches {
		b.Run(one.name, func(b *testing.B) {
			w, err := newWorld(&oracleDefinition{Versions: []oracleVersion{{Name: oracleStorage, Schema: benchSchema(), Status: true}}})
			if err != nil {
				b.Fatal(err)
			}
			b.Run("ours", func(b *testing.B) { one.ours(b, w) })
			b.Run("apimachinery", func(b *testing.B) { one.theirs(b, w) })
		})
	}
}

func benchSchema() *apiextensionsv1.JSONSchemaProps {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	spec := map[string]apiextensionsv1.JSONSchemaProps{"image": text, "replicas": {Type: "integer"}}
	for i := range 12 {
		spec[fmt.Sprint("field", i)] = text
	}
	list, key := "map", []string{"name"}
	spec["ports"] = apiextensionsv1.JSONSchemaProps{
		Type: "array", XListType: &list, XListMapKeys: key,
		Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", Required: key,
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"name": text, "port": {Type: "integer"}, "description": text},
		}},
	}
	return &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"spec":   {Type: "object", Properties: spec},
		"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"phase": text, "replicas": {Type: "integer"}}},
	}}
}

func benchObject(items int) map[string]any {
	spec := map[string]any{"image": "v1", "replicas": int64(3)}
	for i := range 12 {
		spec[fmt.Sprint("field", i)] = fmt.Sprintf("value %d of the field, of some length so that it counts", i)
	}
	ports := []any{}
	for i := range max(items, 3) {
		ports = append(ports, map[string]any{"name": fmt.Sprint("port-", i), "port": int64(8000 + i), "description": "a port"})
	}
	spec["ports"] = ports
	return map[string]any{
		"apiVersion": oracleGroup + "/" + oracleStorage, "kind": oracleKind,
		"metadata": map[string]any{"name": "o", "namespace": "n", "labels": map[string]any{"app": "a", "tier": "b"}},
		"spec":     spec,
	}
}

// prepare is the change: an applier owns the whole, a controller the image.
func (one *bench) prepare(b *testing.B, w *world) managedfields.Change {
	ctx, at := context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	body := benchObject(one.items)
	c := managedfields.Change{Version: oracleStorage, Manager: "gitops", Time: at, New: body}
	out, err := w.kind.Apply(ctx, c)
	if err != nil {
		b.Fatal(err)
	}
	live := cloneTree(out.Tree)
	meta := live["metadata"].(map[string]any)
	meta["uid"], meta["resourceVersion"], meta["creationTimestamp"], meta["generation"] = "u", "7", "2026-01-02T03:04:05Z", int64(1)
	c = managedfields.Change{Version: oracleStorage, Manager: "controller", Time: at, Live: live, LiveManaged: out.Managed, NewManaged: out.Managed}
	c.New = cloneTree(live)
	c.New["spec"].(map[string]any)["image"] = "v0"
	if out, err = w.kind.Update(ctx, c); err != nil {
		b.Fatal(err)
	}
	c.Live, c.LiveManaged, c.NewManaged = c.New, out.Managed, out.Managed
	c.New = cloneTree(c.Live)
	if one.apply {
		c.New = benchObject(one.items)
		delete(c.New["spec"].(map[string]any), "image")
		last, err := w.kind.Apply(ctx, withManager(c, "gitops"))
		if err != nil {
			b.Fatal(err)
		}
		c.Live, c.LiveManaged = cloneTree(last.Tree), last.Managed
		c.New = cloneTree(c.New)
	}
	one.change(c.New["spec"].(map[string]any))
	if one.create {
		c.Live, c.LiveManaged, c.NewManaged = nil, nil, nil
	}
	return withManager(c, one.manager)
}

func withManager(c managedfields.Change, manager string) managedfields.Change {
	c.Manager = manager
	return c
}

// reportCPU reports what a run costs beside the time it takes, which depends on
// what else the machine does.
func reportCPU(b *testing.B) func() {
	b.ReportAllocs()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op") }
}

func (one *bench) ours(b *testing.B, w *world) {
	c := one.prepare(b, w)
	defer reportCPU(b)()
	for b.Loop() {
		var err error
		if one.apply {
			_, err = w.kind.Apply(context.Background(), c)
		} else {
			_, err = w.kind.Update(context.Background(), c)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func (one *bench) theirs(b *testing.B, w *world) {
	c := one.prepare(b, w)
	manager, err := w.oracle(oracleStorage, "", strict)
	if err != nil {
		b.Fatal(err)
	}
	live, err := w.withManaged(c.Live, c.LiveManaged)
	if c.Live == nil {
		live = &unstructured.Unstructured{Object: map[string]any{"apiVersion": c.New["apiVersion"], "kind": c.New["kind"]}}
	} else if err != nil {
		b.Fatal(err)
	}
	next, err := w.withManaged(c.New, c.NewManaged)
	if err != nil {
		b.Fatal(err)
	}
	meta := next.Object["metadata"].(map[string]any)
	if one.apply {
		delete(meta, "managedFields")
	}
	defer reportCPU(b)()
	for b.Loop() {
		next.Object["metadata"] = maps.Clone(meta)
		if one.apply {
			_, err = manager.Apply(live, next, c.Manager, false)
		} else {
			_, err = manager.Update(live, next, c.Manager)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
