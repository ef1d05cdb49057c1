package resource

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// Write is one write on its way through the stages. Field management and
// admission see it through its methods; it is used by one goroutine.
type Write struct {
	Target
	// Options are those of the request, its caller among them.
	Options WriteOptions

	engine *Engine
	source source
	exists existence
	// strategy is what the kind says of changes; nil where none are made.
	strategy crd.Strategy
	put      bool // the client sent a whole object
	stored   bool // works on what is stored, at whatever version that is
	claims   []claim
	sent     *schema.GroupVersionKind // the kind of what is kept nowhere; nil else

	// What follows belongs to one attempt.
	operation admission.Operation
	asked     runtime.Object // the options, as plugins see them; nil until one does
	from      origin         // the state that it starts from; none when it creates
	present   []byte         // the state that it starts from, at the request's version
	old       *unstructured.Unstructured
	object    *unstructured.Unstructured
	scaled    *shownScales // of a write of a scale, until it is validated
	managed   managed
	generate  string          // metadata.generateName, when it decides the name
	named     int64           // the revision that the client gave what it creates
	mistakes  field.ErrorList // those that mutating admission found
	ending    ending
	draft     *catalog.Draft
	revision  int64 // at which it is in the store
	out       *Written
}

// existence is what a write expects of the object.
type existence int

const (
	mustExist existence = iota
	mustNotExist
	mayExist
)

// source is where the new state of a write comes from.
type source interface {
	// decode reads what the client sent. It is called for every attempt, and
	// need not do the same work twice.
	decode(w *Write) error
	// change sets w.object, well-formed by the schema, from w.old if there is
	// one. It may keep w.object, and does not change w.old.
	change(ctx context.Context, w *Write) error
}

// ending is how a write ends.
type ending int

const (
	stores  ending = iota // a new state
	removes               // nothing
	keeps                 // the state that there is
)

// attempt is the way of every write, of custom and built-in kinds, of clients
// and of the gateway itself: the one place that shows the order.
func (w *Write) attempt(ctx context.Context) error {
	err := inOrder(ctx,
		w.decode,   // the body: parsed, and defaulted if it is an object
		w.open,     // the present state
		w.change,   // makes the new one: a body, or a patch with defaults, or a deletion
		w.manage,   // field management, which an apply has done
		w.mutate,   // mutating admission, and defaults again
		w.validate, // system metadata, and what the kind says
		w.admit,    // validating admission
		w.convert,  // to the storage version, and back for the reply
		inTime,     // as long as the client is there
		w.commit,   // or the dry run of it
	)
	for n := 1; w.generate != "" && apierrors.IsAlreadyExists(err) && n < generateAttempts; n++ {
		err = inOrder(ctx, w.validate, w.admit, w.convert, inTime, w.commit) // under another name
	}
	if apierrors.IsAlreadyExists(err) && w.object != nil && w.object.GetGenerateName() != "" {
		return w.noName(err)
	}
	if err != nil {
		return err
	}
	return inOrder(ctx,
		w.handOver, // to the cache, with the views made so far
		w.reply,
	)
}

// inTime refuses to go on for a client that has left, or whose time is over: what
// judged the write may have been broken off.
func inTime(ctx context.Context) error {
	if ctx.Err() != nil {
		return catalog.ErrTimeout()
	}
	return nil
}

func inOrder(ctx context.Context, stages ...func(context.Context) error) error {
	for _, stage := range stages {
		if err := stage(ctx); err != nil {
			return err
		}
	}
	return nil
}

// final wraps an error that came from the store's answer to a write, or after
// it. What was asked for may have happened: it is not to be tried again.
type final struct{ error }

// redefined tells that the definition has another revision than the one that
// the resource stood for, or is gone; nothing was written.
type redefined struct {
	since int64
	gone  bool
}

func (*redefined) Error() string { return "the definition changed" }

// errUnclaimed tells that what the write claimed was not its any more; nothing
// was written.
var errUnclaimed = errors.New("the write took longer than its claims")

// superseded tells that somebody else wrote first, and what.
type superseded struct{ by *catalog.Entry }

func (superseded) Error() string { return "somebody else wrote first" }

// maxAttempts bounds how often a write without a resourceVersion is tried
// again against other writers.
const maxAttempts = 100

// run carries a write out against the state that is known: against newer ones
// as long as somebody else writes first, and against the store's own when it
// was refused on a cached one, which may be behind.
func (w *Write) run(ctx context.Context) (*Written, error) {
	if err := w.Resource.Current(); err != nil {
		return nil, err
	}
	defer func() { w.release(ctx) }()
	from, err := w.start(ctx)
	for range maxAttempts {
		if err != nil {
			return nil, err
		}
		w.begin(from)
		refused := w.attempt(ctx)
		var done final
		var lost superseded
		var changed *redefined
		switch {
		case refused == nil:
			return w.out, nil
		case errors.As(refused, &lost) && lost.by != nil:
			from = origin{lost.by, true}
		case errors.As(refused, &lost):
			from, err = w.current(ctx, true)
		case errors.Is(refused, errUnclaimed):
			w.release(ctx)
		case errors.As(refused, &changed):
			err = w.engine.catalog.AwaitRedefined(ctx, w.Resource, changed.since, changed.gone)
		case errors.As(refused, &done):
			return nil, done.error
		case from.Entry == nil || from.live || ctx.Err() != nil:
			return nil, refused
		default:
			stale := from.Revision
			if from, err = w.current(ctx, true); err == nil && from.Entry != nil && from.Revision == stale {
				return nil, refused
			}
		}
	}
	return nil, apierrors.NewConflict(w.GroupResource(), w.Name, errModified)
}

// begin forgets what an earlier attempt did.
func (w *Write) begin(from origin) {
	w.from, w.present, w.old, w.object, w.scaled, w.mistakes, w.asked, w.managed = from, nil, nil, nil, nil, nil, nil, managed{}
	w.ending, w.generate, w.named, w.draft, w.revision, w.out = stores, "", 0, nil, 0, nil
	switch {
	case w.operation == admission.Delete:
	case from.Entry == nil:
		w.operation = admission.Create
	default:
		w.operation = admission.Update
	}
}
