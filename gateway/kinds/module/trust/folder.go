package trust

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Folder is the policies of a folder, which no request changes.
type Folder struct{ policies []*policy }

// ReadFolder makes the ModuleTrusts of a folder ready.
func ReadFolder(objects []*unstructured.Unstructured) (*Folder, error) {
	f := &Folder{}
	for _, obj := range objects {
		var o object
		if err := gvr.Decode(obj, &o); err != nil {
			return nil, err
		}
		one, errs := read(o.Name, o.Spec)
		if len(errs) > 0 {
			return nil, fmt.Errorf("ModuleTrust %q: %w", o.Name, excerpt.Errors(errs))
		}
		f.policies = append(f.policies, one)
	}
	return f, nil
}

// CheckIn refuses content of a module of the folder that its policies, or those of the file,
// do not let serve. What the API says does not count: it changes nothing of a folder.
func (p *Policies) CheckIn(ctx context.Context, f *Folder, obj *unstructured.Unstructured, content []byte) error {
	alone := &Policies{}
	alone.file.Store(p.file.Load())
	alone.folder.Store(f)
	return alone.Check(ctx, obj, content)
}

// Use puts the policies of a folder in force beside all others.
func (p *Policies) Use(f *Folder) {
	p.folder.Store(f)
	p.tell()
}

// tell has one receiver of Changed look at all modules.
func (p *Policies) tell() {
	select {
	case p.changed <- struct{}{}:
	default: // somebody is to look anyway
	}
}
