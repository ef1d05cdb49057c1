// Package folder owns the modules of a folder, which no request changes: they are loaded
// before the first one, and take nothing from the API.
//
// It must not know how a folder is read or followed, nor the Wasm runtime.
package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// Runtime runs modules, as load.Runtime says.
type Runtime interface {
	// Set compiles a revision and lets it serve under a name.
	Set(ctx context.Context, name string, rev plugins.Revision) error
	// Status tells what serves; ok is false when nothing was ever set.
	Status(name string) (status plugins.Status, ok bool)
	// Grant lets a module look objects up, and nothing else.
	Grant(name string, grants []plugins.Grant)
	// Withdraw lets what serves under a name serve no more.
	Withdraw(name string, why *plugins.LoadError)
	// Remove forgets a module.
	Remove(name string)
}

// Folder is those modules. It is safe for concurrent use.
type Folder struct {
	modules Runtime
	trust   *trust.Policies
	safe    bool
	mu      sync.Mutex
	loaded  map[string]fixed
}

// New loads the modules of all guards, and of what these are later; in safe mode none.
func New(ctx context.Context, modules Runtime, policies *trust.Policies, safe bool, all *guards.Guards) (*Folder, error) {
	f := &Folder{modules: modules, trust: policies, safe: safe}
	if err := all.Folder(guards.Modules).Accept(ctx, f.use); err != nil {
		return nil, fmt.Errorf("--admission-control-config-file: %s: %w", guards.Modules, err)
	}
	return f, nil
}

// fixed is one of them.
type fixed struct {
	plugins.Revision
	grants []plugins.Grant
}

// use loads the modules of a folder, all or none, and forgets those that are in it no
// more. Its ModuleTrusts are in force from then on.
func (f *Folder) use(ctx context.Context, s *guards.State) error {
	trusted, err := trust.ReadFolder(objects(s.Of("ModuleTrust")))
	if err != nil {
		return err
	}
	next := map[string]fixed{}
	for _, o := range s.Of("WasmModule") {
		one, err := f.wanted(ctx, trusted, o)
		if err != nil {
			return fmt.Errorf("WasmModule %q: %w", o.GetName(), err)
		}
		next[o.GetName()] = one
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.load(ctx, next); err != nil {
		f.withdraw(next) // of what has begun to serve
		return refusal(err, f.load(ctx, f.loaded))
	}
	for name := range f.loaded {
		if _, still := next[name]; !still {
			f.modules.Remove(name)
		}
	}
	f.loaded = next
	f.trust.Use(trusted)
	return nil
}

// replaces is 1 for a name under which a module serves, 0 for others.
func replaces(modules Runtime, name string) int {
	if s, _ := modules.Status(name); s.Serving != nil {
		return 1
	}
	return 0
}

// withdraw lets those modules of a folder that was refused serve no more that were not there
// before. One that does not serve may be being compiled, and is left to who asks for it again.
func (f *Folder) withdraw(refused map[string]fixed) {
	for name := range refused {
		if _, before := f.loaded[name]; before {
			continue
		}
		if s, _ := f.modules.Status(name); s.Serving != nil {
			f.modules.Remove(name)
		}
	}
}

// refusal is why modules do not serve, and what those of before say to that, nil where they
// serve again.
func refusal(err, again error) error {
	passes := func(err error) bool {
		var refused *plugins.LoadError
		return err != nil && !(errors.As(err, &refused) && (refused.Reason.Final() || refused.Reason == plugins.Quarantined))
	}
	all := errors.Join(err, again)
	if passes(err) || passes(again) {
		return guards.Passing{Err: all}
	}
	return all
}

// load lets modules serve, but in safe mode.
func (f *Folder) load(ctx context.Context, all map[string]fixed) error {
	if f.safe {
		return nil
	}
	// What is new comes first, so that what serves is replaced once all others can.
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(replaces(f.modules, a)-replaces(f.modules, b), strings.Compare(a, b))
	})
	for _, name := range names {
		if s, _ := f.modules.Status(name); s.Serving == nil || !s.Serving.Same(all[name].Revision) {
			if err := f.modules.Set(ctx, name, all[name].Revision); err != nil {
				return fmt.Errorf("WasmModule %q: %w", name, err)
			}
		}
		f.modules.Grant(name, all[name].grants)
	}
	return nil
}

// wanted is the revision that an object of a folder asks for.
func (f *Folder) wanted(ctx context.Context, trusted *trust.Folder, o guards.Object) (one fixed, err error) {
	obj := o.DeepCopy()
	if o.Content != nil {
		annotations := obj.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[module.ContentAnnotation] = signature.Digest(o.Content)
		obj.SetAnnotations(annotations)
	}
	rev, refused := module.Wanted(obj, signature.Digest)
	if refused != nil {
		return one, fmt.Errorf("%s: %s", refused.Reason, refused.Message)
	}
	if rev.Bytes == nil {
		rev.Bytes = o.Content
	}
	if got := signature.Digest(rev.Bytes); got != rev.Digest {
		return one, fmt.Errorf("its content is %s, not %s", got, rev.Digest)
	}
	return fixed{*rev, module.GrantsOf(obj)}, f.trust.CheckIn(ctx, trusted, obj, rev.Bytes)
}

func objects(all []guards.Object) (out []*unstructured.Unstructured) {
	for _, o := range all {
		out = append(out, o.Unstructured)
	}
	return out
}

// has reports whether a module is one of the folder.
func (f *Folder) has(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, has := f.loaded[name]
	return has
}
