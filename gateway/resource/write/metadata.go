package write

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// UpdateMetadata changes the metadata of an object, at whatever version it is
// stored at and without converting it. change is called with the present state,
// for every attempt; it may only take away finalizers and owner references, or
// weaken these, which no kind refuses. p says which object is meant; if that
// is not the one of this name, it is a Conflict. An object that is being
// deleted and loses its last finalizer is gone. There is no reply.
func (e *Writer) UpdateMetadata(ctx context.Context, t resource.Target, p metav1.Preconditions, change func(metav1.Object), caller resource.Caller) error {
	w := &Write{
		request: request{Target: t, Options: resource.WriteOptions{Caller: caller, NoReply: true}, stored: true},
		writer:  e, source: loosening{p, change},
	}
	_, err := w.run(ctx)
	return err
}

// loosening is the source of a state with less in its metadata.
type loosening struct {
	meant  metav1.Preconditions
	loosen func(metav1.Object)
}

// decode implements [source]; there is no body.
func (loosening) decode(*request) error { return nil }

// size implements [source].
func (loosening) size() int { return 0 }

// change implements [source]. A deletion that nothing holds up any more ends
// here.
func (l loosening) change(_ context.Context, r *request, from *present) (n next, err error) {
	if err := preconditions(r.Target, &l.meant, from); err != nil {
		return n, err
	}
	n.object = from.object
	l.loosen(n.object)
	if released(r.Resource.Def, n.object) {
		n.ending = removes
	}
	return n, nil
}

// keepOwners gives an object the managedFields of another state of it.
func keepOwners(tree map[string]any, from *unstructured.Unstructured) {
	managed, there, _ := unstructured.NestedFieldNoCopy(from.Object, "metadata", "managedFields")
	metadata, _ := tree["metadata"].(map[string]any)
	switch {
	case metadata == nil:
	case there:
		metadata["managedFields"] = managed
	default:
		delete(metadata, "managedFields")
	}
}
