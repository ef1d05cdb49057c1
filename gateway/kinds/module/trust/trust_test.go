package trust

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// exporting is a module with one function, of that name.
func exporting(name string) []byte {
	export := append(append([]byte{1, byte(len(name))}, name...), 0, 0)
	return append([]byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x07"), append(append([]byte{byte(len(export))}, export...), "\x0a\x04\x01\x02\x00\x0b"...)...)
}

// trustOf is a ModuleTrust that demands a signature of a new key.
func trustOf(t *testing.T, name, modules string) string {
	t.Helper()
	_, public, err := signature.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"apiVersion":"wasmgate.dev/v1","kind":"ModuleTrust","metadata":{"name":%q},"spec":{"modules":{%s},"authorities":[{"name":"a","key":%q}]}}`, name, modules, public)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func named(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "labels": map[string]any{"tier": name}}}}
}

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := new(unstructured.Unstructured)
	if err := obj.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return obj
}

// A policy means the modules that satisfy all of its fields. Of what is no module of Wasm
// nobody knows the hooks, so it is one of any.
func TestWhichModulesAreMeant(t *testing.T) {
	for _, tc := range []struct {
		modules, name string
		content       []byte
		meant         bool
	}{
		{``, "m", exporting("other"), true},
		{`"hooks":["wasmgate_admit"]`, "m", exporting(string(plugins.Admit)), true},
		{`"hooks":["wasmgate_admit","wasmgate_convert"]`, "m", exporting(string(plugins.Convert)), true},
		{`"hooks":["wasmgate_admit"]`, "m", exporting(string(plugins.Convert)), false},
		{`"hooks":["wasmgate_admit"]`, "m", exporting("other"), false},
		{`"hooks":["wasmgate_admit"]`, "m", exporting("__guest_call"), true},
		{`"hooks":["wasmgate_admit"]`, "m", exporting("opa_wasm_abi_version"), true},
		{`"hooks":["wasmgate_convert"]`, "m", exporting("__guest_call"), false},
		{`"hooks":["wasmgate_admit"]`, "m", []byte("no module"), true},
		{`"names":["n","m*"]`, "mm", exporting("other"), true},
		{`"names":["n","m*"]`, "nn", exporting("other"), false},
		{`"names":["n"],"hooks":["wasmgate_admit"]`, "m", []byte("no module"), false},
		{`"selector":{"matchLabels":{"tier":"m"}}`, "m", exporting("other"), true},
		{`"selector":{"matchLabels":{"tier":"m"}}`, "n", exporting("other"), false},
	} {
		path := filepath.Join(t.TempDir(), "trust.yaml")
		write(t, path, trustOf(t, "one", tc.modules))
		p := New(nil)
		if err := p.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		err := p.Check(t.Context(), named(tc.name), tc.content)
		if meant := err != nil; meant != tc.meant {
			t.Errorf("%s for %s %q: %v", tc.modules, tc.name, tc.content, err)
		}
	}
}

// lister has the ModuleTrusts of the API, or cannot read them.
type lister struct {
	objects []*unstructured.Unstructured
	err     error
}

func (l lister) List(context.Context, schema.GroupResource, string) ([]*unstructured.Unstructured, error) {
	return l.objects, l.err
}

func (l lister) Get(_ context.Context, gr schema.GroupResource, _, name string) (*unstructured.Unstructured, error) {
	return nil, apierrors.NewNotFound(gr, name)
}

// The policies of the API are in force beside those of disk, and mean nothing for the
// modules of a folder. What cannot be read lets nothing serve.
func TestPoliciesOfDiskAndOfTheAPI(t *testing.T) {
	one := objectOf(t, trustOf(t, "one", `"names":["a"]`))
	folder, err := ReadFolder([]*unstructured.Unstructured{objectOf(t, trustOf(t, "two", `"names":["b"]`))})
	if err != nil {
		t.Fatal(err)
	}
	content := exporting("other")
	p := New(lister{objects: []*unstructured.Unstructured{one}})
	p.Use(folder)
	if n := p.Count(t.Context()); n != 2 {
		t.Errorf("%d policies are in force", n)
	}
	for name, want := range map[string]string{"a": `"one" does not let it serve`, "b": `"two" does not let it serve`, "c": ""} {
		if err := p.Check(t.Context(), named(name), content); want == "" && err != nil || want != "" && !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.CheckIn(t.Context(), folder, named(name), content); (err != nil) != (name == "b") {
			t.Errorf("%s in the folder: %v", name, err)
		}
	}
	broken := objectOf(t, `{"apiVersion":"wasmgate.dev/v1","kind":"ModuleTrust","metadata":{"name":"a"},"spec":{"authorities":1}}`)
	after := New(lister{objects: []*unstructured.Unstructured{broken, one}})
	if n := after.Count(t.Context()); n != 2 {
		t.Errorf("%d policies are in force beside one that cannot be read", n)
	}
	if err := after.Check(t.Context(), named("a"), content); !strings.Contains(fmt.Sprint(err), "cannot restore") || !strings.Contains(fmt.Sprint(err), `"one" does not let it serve`) {
		t.Errorf("%v", err)
	}
	for text, l := range map[string]lister{
		"cannot be read: no store": {err: fmt.Errorf("no store")},
		"cannot restore":           {objects: []*unstructured.Unstructured{objectOf(t, `{"apiVersion":"wasmgate.dev/v1","kind":"ModuleTrust","metadata":{"name":"x"},"spec":{"authorities":1}}`)}},
	} {
		if err := New(l).Check(t.Context(), named("c"), content); !strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What an object demands is made ready once, and again when it is another.
func TestPoliciesAreMadeReadyOnce(t *testing.T) {
	one, other := objectOf(t, trustOf(t, "one", `"names":["a"]`)), objectOf(t, trustOf(t, "other", `"names":["a"]`))
	for i, obj := range []*unstructured.Unstructured{one, other} {
		obj.SetUID(types.UID(obj.GetName()))
		obj.SetResourceVersion(fmt.Sprint(i + 1))
	}
	l := lister{objects: []*unstructured.Unstructured{one, other}}
	p := New(&l)
	before := p.inForce(t.Context())
	if again := p.inForce(t.Context()); again[0] != before[0] || again[1] != before[1] {
		t.Error("they were made ready twice")
	}
	one.SetResourceVersion("3")
	if now := p.inForce(t.Context()); now[0] == before[0] || now[1] != before[1] {
		t.Error("one that was changed is as it was, or the other is not")
	}
	l.objects = nil
	if now := p.inForce(t.Context()); len(now) > 0 || len(p.made) > 0 {
		t.Errorf("%d are left of none", len(p.made))
	}
}

// Trouble with the file is told once, and again when it is another; what the file said
// before counts all the while. That one is in force is told each time.
func TestTroubleWithTheFileIsToldOnce(t *testing.T) { synctest.Test(t, followed) }

func followed(t *testing.T) {
	path, first := filepath.Join(t.TempDir(), "trust.yaml"), trustOf(t, "one", `"names":["a"]`)
	write(t, path, first)
	p := New(nil)
	if err := p.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 10)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go p.Follow(ctx, path, func(err error) { told <- fmt.Sprint(err) })
	for _, step := range []struct{ name, text, want, refused string }{
		{name: "as it was", refused: "a"},
		{name: "missing", want: "no such file", refused: "a"},
		{name: "there again as it was", text: first, refused: "a"},
		{name: "missing again", want: "no such file", refused: "a"},
		{name: "empty", text: "\n", want: "it has no ModuleTrust", refused: "a"},
		{name: "too long", text: strings.Repeat("#", maxFile+1), want: "it has more than", refused: "a"},
		{name: "of another kind", text: `{"apiVersion":"v1","kind":"ModuleTrust","metadata":{"name":"x"}}`, want: "document 1: it is no ModuleTrust", refused: "a"},
		{name: "good", text: trustOf(t, "one", `"names":["b"]`), want: "<nil>", refused: "b"},
		{name: "of another kind again", text: `{"apiVersion":"v1","kind":"ModuleTrust","metadata":{"name":"x"}}`, want: "document 1: it is no ModuleTrust", refused: "b"},
		{name: "longest", text: trustOf(t, "one", `"names":["c"]`) + strings.Repeat("\n", maxFile-len(trustOf(t, "one", `"names":["c"]`))), want: "<nil>", refused: "c"},
	} {
		switch {
		case step.text != "":
			write(t, path, step.text)
		case step.want != "":
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(10 * pollInterval) // by the bubble's clock: time enough to tell twice
		synctest.Wait()
		if want := min(len(step.want), 1); len(told) != want {
			t.Errorf("%s: told %d times", step.name, len(told))
		}
		for len(told) > 0 {
			if said := <-told; step.want == "" || !strings.Contains(said, step.want) {
				t.Errorf("%s: told %s", step.name, said)
			}
		}
		select {
		case <-p.Changed():
			if step.want != "<nil>" {
				t.Errorf("%s: modules are judged again", step.name)
			}
		default:
			if step.want == "<nil>" {
				t.Errorf("%s: nobody judges the modules again", step.name)
			}
		}
		for _, name := range []string{"a", "b", "c"} {
			if err := p.Check(ctx, named(name), exporting("other")); (err != nil) != (name == step.refused) {
				t.Errorf("%s: %s: %v", step.name, name, err)
			}
		}
	}
}

// Documents of the file that are empty are passed by, and those after them count.
func TestEmptyDocumentsOfTheFile(t *testing.T) {
	one, two := trustOf(t, "one", `"names":["a"]`), trustOf(t, "two", `"names":["b"]`)
	for text, want := range map[string]int{
		"":                                   -1,
		"---\n":                              -1,
		one:                                  1,
		one + "\n---\n\n---\n" + two:         2,
		"---\n# nothing\n---\n" + one + "\n": 1,
		"---\n" + one + "\n--- \n" + two:     2,
		one + "\n---\nkind: Pod\n":           -1,
	} {
		all, err := parse([]byte(text))
		if len(all) != max(want, 0) || (err != nil) != (want < 0) {
			t.Errorf("%q: %d policies, %v", text, len(all), err)
		}
	}
}
