package resource

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
)

// Kinds returns the definitions that are served, after every change of those of
// custom resources that the cache has seen, deletions among them. They are shared
// and not to be changed.
func (i Internal) Kinds(ctx context.Context) ([]*crd.Definition, error) {
	if err := i.e.catalog.Settle(ctx); err != nil {
		return nil, err
	}
	return i.Served(), nil
}

// UpdateMetadata changes the metadata of an object, at whatever version it is
// stored at and without converting it. change is called with the present state,
// for every attempt; it may only take away finalizers and owner references, or
// weaken these, which no kind refuses. p says which object is meant; if that
// is not the one of this name, it is a Conflict. An object that is being
// deleted and loses its last finalizer is gone.
func (i Internal) UpdateMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string, p metav1.Preconditions, change func(metav1.Object)) error {
	_, err := again(func() (*Written, error) {
		t, err := i.target(gr, namespace, name, "")
		if err != nil {
			return nil, err
		}
		w := &Write{
			Target: t, Options: WriteOptions{Caller: i.caller, NoReply: true},
			engine: i.e, source: loosening{p, change}, stored: true,
		}
		return w.run(ctx)
	})
	return err
}

// loosening is the source of a state with less in its metadata.
type loosening struct {
	meant  metav1.Preconditions
	loosen func(metav1.Object)
}

// decode implements [source]; there is no body.
func (loosening) decode(*Write) error { return nil }

// change implements [source]. A deletion that nothing holds up any more ends
// here.
func (l loosening) change(_ context.Context, w *Write) error {
	if err := w.preconditions(&l.meant, w.object); err != nil {
		return err
	}
	l.loosen(w.object)
	w.endIfReleased()
	return nil
}
