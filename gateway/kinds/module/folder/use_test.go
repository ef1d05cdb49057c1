package folder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// loading is a runtime that loads what it is given, but for content that says bad.
type loading struct {
	serving map[string]plugins.Revision
	grants  map[string]int
	set     []string
}

func (l *loading) Set(_ context.Context, name string, rev plugins.Revision) error {
	l.set = append(l.set, name+"="+string(rev.Bytes))
	if string(rev.Bytes) == "bad" {
		return errors.New("it is bad")
	}
	l.serving[name] = rev
	return nil
}

func (l *loading) Status(name string) (plugins.Status, bool) {
	rev, ok := l.serving[name]
	if !ok {
		return plugins.Status{}, false
	}
	return plugins.Status{Serving: &rev}, true
}

func (l *loading) Grant(name string, grants []plugins.Grant)  { l.grants[name] = len(grants) }
func (l *loading) Withdraw(name string, _ *plugins.LoadError) {}
func (l *loading) Remove(name string)                         { delete(l.serving, name) }
func (l *loading) serves() string {
	var all []string
	for name, rev := range l.serving {
		all = append(all, name+"="+string(rev.Bytes))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// file is a module whose content is a file beside its own.
func file(name, content string, spec map[string]any) guards.Object {
	if spec == nil {
		spec = map[string]any{"source": map[string]any{"upload": map[string]any{}}}
	}
	return guards.Object{Content: []byte(content), Unstructured: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "wasmgate.dev/v1alpha1", "kind": "WasmModule", "metadata": map[string]any{"name": name}, "spec": spec,
	}}}
}

// inline is a module whose content is in its own file.
func inline(name, content string) guards.Object {
	o := file(name, "", map[string]any{"source": map[string]any{"inline": content}, "grants": []any{map[string]any{"resource": "pods"}}})
	o.Content = nil
	return o
}

// newFolder is one whose modules a runtime loads.
func newFolder(t *testing.T, safe bool) (*Folder, *loading) {
	t.Helper()
	l := &loading{serving: map[string]plugins.Revision{}, grants: map[string]int{}}
	f, err := New(t.Context(), l, trust.New(nil), safe, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f, l
}

// All modules of a folder serve, or those that served before; what serves as it is to is
// not loaded again, and what is in the folder no more is forgotten.
func TestModulesOfAFolderServeAllOrNone(t *testing.T) {
	f, l := newFolder(t, false)
	annotated := file("a", "two", nil)
	annotated.SetAnnotations(map[string]string{"wasmgate.dev/content-digest": "sha256:0"})
	for _, c := range []struct {
		objects          []guards.Object
		err, serves, set string
	}{
		{[]guards.Object{file("a", "one", nil), inline("b", "AAAA")}, "", "a=one b=\x00\x00\x00", "a=one b=\x00\x00\x00"},
		{[]guards.Object{file("a", "one", nil), inline("b", "AAAA")}, "", "a=one b=\x00\x00\x00", ""},
		{[]guards.Object{file("a", "two", nil), file("c", "bad", nil)}, `WasmModule "c": it is bad`, "a=one b=\x00\x00\x00", "c=bad"},
		{[]guards.Object{file("a", "two", nil), file("bb", "new", nil), file("c", "bad", nil)}, `WasmModule "c": it is bad`, "a=one b=\x00\x00\x00", "bb=new c=bad"},
		{[]guards.Object{file("a", "one", map[string]any{"source": map[string]any{"git": map[string]any{}}})}, `WasmModule "a": SourceNotSupported: spec.source must have inline, upload or oci; nothing else is supported`, "a=one b=\x00\x00\x00", ""},
		{[]guards.Object{file("a", "one", map[string]any{"source": map[string]any{"upload": map[string]any{"digest": "sha256:1"}}})},
			fmt.Sprintf(`WasmModule "a": its content is %s, not sha256:1`, signature.Digest([]byte("one"))), "a=one b=\x00\x00\x00", ""},
		{[]guards.Object{annotated}, "", "a=two", "a=two"},
		{nil, "", "", ""},
	} {
		l.set = nil
		err := f.use(t.Context(), &guards.State{Objects: c.objects})
		if got := fmt.Sprint(err); c.err == "" && err != nil || c.err != "" && got != c.err {
			t.Errorf("%v, want %s", err, c.err)
		}
		if got := strings.Join(l.set, " "); l.serves() != c.serves || got != c.set {
			t.Errorf("%q serve, want %q; loaded %q, want %q", l.serves(), c.serves, got, c.set)
		}
		if f.has("b") != strings.Contains(c.serves, "b=") {
			t.Errorf("b is in the folder: %v", f.has("b"))
		}
	}
	if l.grants["a"] != 0 || l.grants["b"] != 1 {
		t.Errorf("granted: %v", l.grants)
	}
}

// Modules that were not loaded for what may pass are to be tried again, and those that were
// to serve again, too.
func TestWhichRefusalsPass(t *testing.T) {
	final, slow := &plugins.LoadError{Reason: plugins.Malformed}, &plugins.LoadError{Reason: plugins.Slow}
	for _, c := range []struct {
		err, again error
		passes     bool
	}{{final, nil, false}, {slow, nil, true}, {fmt.Errorf("a: %w", slow), nil, true}, {errors.New("no room"), nil, true}, {final, slow, true}, {final, final, false}} {
		err := refusal(c.err, c.again)
		if errors.As(err, &guards.Passing{}) != c.passes || err.Error() != errors.Join(c.err, c.again).Error() {
			t.Errorf("%v, %v: %#v", c.err, c.again, err)
		}
	}
	f, _ := newFolder(t, false)
	if err := f.use(t.Context(), &guards.State{Objects: []guards.Object{file("c", "bad", nil)}}); !errors.As(err, &guards.Passing{}) {
		t.Errorf("%#v", err)
	}
}

// In safe mode none is loaded, but their names are taken and mistakes are told.
func TestNoModuleOfAFolderServesInSafeMode(t *testing.T) {
	f, l := newFolder(t, true)
	if err := f.use(t.Context(), &guards.State{Objects: []guards.Object{file("a", "bad", nil)}}); err != nil || len(l.set) != 0 || !f.has("a") {
		t.Errorf("%v, loaded %q, taken %v", err, l.set, f.has("a"))
	}
	broken := file("t", "", nil)
	broken.Object["kind"], broken.Object["spec"] = "ModuleTrust", "text"
	if err := f.use(t.Context(), &guards.State{Objects: []guards.Object{broken}}); err == nil || !f.has("a") {
		t.Errorf("a ModuleTrust that cannot be read: %v", err)
	}
}
