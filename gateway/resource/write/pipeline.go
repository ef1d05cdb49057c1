package write

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
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// Write is one write on its way through the stages. It is used by one goroutine.
type Write struct {
	request
	writer *Writer
	source source
	claims claimed
	undo   undoing
	progress
}

// request is what a write is asked for. No stage changes it, but for the name of
// what is created.
type request struct {
	resource.Target
	// Options are those of the request, its caller among them.
	Options resource.WriteOptions
	exists  existence
	// strategy is what the kind says of changes; nil where none are made.
	strategy crd.Strategy
	put      bool                     // the client sent a whole object
	stored   bool                     // works on what is stored, at whatever version that is
	unasked  bool                     // admission is not asked
	sent     *schema.GroupVersionKind // the kind of what is kept nowhere; nil else
}

// existence is what a write expects of the object.
type existence int

const (
	mustExist existence = iota
	mustNotExist
	mayExist
)

// progress is how far one attempt at a write has come.
type progress struct {
	operation admission.Operation
	from      read.Origin // the state that it starts from; none when it creates
	present   present     // the same, at the version of the request
	next
	asked    runtime.Object             // the options, as plugins see them; nil until one does
	mistakes field.ErrorList            // those that mutating admission found
	named    int64                      // the revision that the client gave what it creates
	old      *unstructured.Unstructured // as plugins see it, where what is stored is at another version
	draft    *view.Draft
	warned   []string // for the client
	shown    int      // the bytes of the reply, about
	revision int64    // at which it is in the store
	out      *resource.Written
}

// source is where the new state of a write comes from.
type source interface {
	// decode reads what the client sent. It is called for every attempt, and
	// need not do the same work twice.
	decode(r *request) error
	// change makes the new state, well-formed by the schema, of the present one if
	// there is one. It does not change that, but where r is about what is stored.
	change(ctx context.Context, r *request, from *present) (next, error)
	// size is how many bytes the client sent.
	size() int
}

// next is the new state of an object.
type next struct {
	object   *unstructured.Unstructured
	owners   owned
	scaled   *shownScales   // of a write of a scale, until it is validated
	generate string         // metadata.generateName, once it has decided the name
	unnamed  map[string]any // the state before, of a kind that may make more of a name
	ending   ending
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
		w.make,   // the new state, of the body and the present one
		w.mutate, // mutating admission, and defaults again
		w.unite,  // owner references, each once
		w.judge,  // system metadata, and what the kind says
		w.admit,  // validating admission
		w.encode, // at the storage version, and back for the reply
		w.afford, // the memory of that
		inTime,   // as long as the client is there
		w.commit, // or the dry run of it
	)
	for n := 1; w.generate != "" && apierrors.IsAlreadyExists(err) && n < generateAttempts; n++ {
		err = inOrder(ctx, w.judge, w.admit, w.encode, w.afford, inTime, w.commit) // under another name
	}
	if w.lightened(err) {
		err = inOrder(ctx, w.encode, w.afford, inTime, w.commit)
	}
	if w.unmarked(err) {
		err = w.commit(ctx)
	}
	if apierrors.IsAlreadyExists(err) && w.object != nil && w.object.GetGenerateName() != "" {
		return noName(w.Target, err)
	}
	if err != nil {
		return err
	}
	return inOrder(ctx,
		w.handOver, // to the cache, with the views made so far
		w.reply,
	)
}

func (w *Write) decode(context.Context) error { return w.source.decode(&w.request) }

// open reads the present state. For a write that works on what is stored that is
// only to see that it can be read.
func (w *Write) open(ctx context.Context) (err error) {
	switch {
	case w.from.Entry == nil:
		return nil
	case w.stored:
		w.present, err = readStored(ctx, w.Target, w.from.Entry, !w.Options.NoReply)
	default:
		var sent object.Text
		if body, ok := w.source.(*whole); ok {
			sent = body.text
		}
		w.present, err = readPresent(ctx, w.Target, w.from.Entry, sent)
	}
	return err
}

func (w *Write) change(ctx context.Context) (err error) {
	if w.next, err = w.source.change(ctx, &w.request, &w.present); err != nil || w.stored {
		return err
	}
	if w.owners.sent, err = object.TakeManaged(w.object.Object); err != nil {
		return apierrors.NewInternalError(err)
	}
	if _, sent := w.source.(*whole); sent {
		unite(w.Options, w.object, "")
	}
	if w.operation == admission.Update {
		return precondition(&w.request, w.object, &w.present)
	}
	return nil
}

// manage decides the managedFields of every write but an apply, which has to
// know them earlier, and a deletion, whose marks nobody owns.
func (w *Write) manage(ctx context.Context) (err error) {
	switch {
	case w.owners.decided, w.operation == admission.Delete:
	case w.stored:
		err = manageMetadata(ctx, &w.request, &w.present, w.object)
	default:
		w.owners, err = manage(ctx, &w.request, &w.present, &w.next)
	}
	return err
}

func (w *Write) mutate(ctx context.Context) error {
	if w.operation == admission.Create {
		if may := w.Options.MayCreate; may != nil && w.exists == mayExist {
			if err := may(ctx, w.Name); err != nil {
				return err
			}
		}
		if w.Resource.Def.Terminating {
			return apierrors.NewForbidden(w.GroupResource(), admission.NameOf(attributes{w}), errors.New("create not allowed while custom resource definition is terminating"))
		}
	}
	if w.unasked || len(w.writer.o.Admission.Mutators) == 0 {
		return nil
	}
	before, err := ownersOf(&w.request, &w.next)
	if err != nil {
		return err
	}
	var own map[string]any
	if w.stored && w.operation == admission.Update {
		own = object.Clone(w.object.Object)
	}
	for _, m := range w.writer.o.Admission.Mutators {
		if err := m.Mutate(ctx, attributes{w}); err != nil {
			return err
		}
	}
	if own != nil { // mutators may refuse it; what they make of it nobody would validate, but its owners
		keepOwners(own, w.object)
		w.object = asUnstructured(own)
	}
	return judgeOwners(&w.request, &w.next, before)
}

func (w *Write) validate(ctx context.Context) (err error) {
	w.scaled = nil // from here on a Scale is what is made of it
	switch {
	case w.stored: // it was valid, and its source says what it may become
	case w.operation == admission.Create:
		var named int64
		if named, err = prepareCreate(ctx, &w.request, &w.next, w.mistakes); err == nil {
			w.named, w.Name = max(named, w.named), w.object.GetName() // another generated name has no revision
		}
	default:
		err = prepareUpdate(ctx, &w.request, w.object, w.present.object, w.mistakes)
		if err == nil && released(w.Resource.Def, w.object) {
			w.ending = removes
		}
	}
	return err
}

func (w *Write) admit(ctx context.Context) error {
	if w.unasked {
		return nil
	}
	for _, v := range w.writer.o.Admission.Validators {
		if err := v.Validate(ctx, attributes{w}); err != nil {
			return err
		}
	}
	return nil
}

// convert makes the bytes for the store and, before anything is stored, those
// of the reply: a write whose reply cannot be made is refused. What changes
// nothing is not converted back.
func (w *Write) convert(ctx context.Context) (err error) {
	if w.ending == removes {
		return nil
	}
	if w.draft, err = draft(ctx, &w.request, &w.present, &w.next); err != nil {
		return err
	}
	w.ending = stores
	if w.from.Entry != nil && w.from.IsStoredAs(w.draft.Stored) {
		w.ending = keeps
		return nil
	}
	if !w.Options.NoReply {
		var shown []byte
		shown, err = w.draft.View(ctx, w.Version.Name)
		w.shown = len(shown)
	}
	return err
}

// commit charges the write to who keeps account of it, and commits it with that.
func (w *Write) commit(ctx context.Context) (err error) {
	var account resource.Account
	if w.writer.accounts != nil && isCharged(&w.request, &w.progress) {
		if account, err = w.writer.accounts.Open(ctx, attributes{w}); err != nil {
			return err
		}
	}
	if account == nil {
		w.revision, err = commit(ctx, w.writer, &w.request, &w.progress, w.claims, nil)
	} else {
		w.revision, err = charge(ctx, account, w.writer, &w.request, &w.progress, w.claims)
	}
	return err
}

// handOver gives the committed state to the cache, so that no reader has to
// make again what the writer made.
func (w *Write) handOver(context.Context) error {
	w.out = &resource.Written{Created: w.operation == admission.Create, Deleted: w.ending == removes, UID: string(w.object.GetUID())}
	if w.ending != stores || w.Options.DryRun {
		return nil
	}
	entry, view, err := w.draft.Committed(w.revision, w.Version.Name)
	if err != nil {
		return final{error: err}
	}
	w.out.Object = view
	w.writer.cache.Committed(w.Resource.Key(w.Namespace, w.Name), w.revision, entry)
	return nil
}

// reply completes what the client is told.
func (w *Write) reply(ctx context.Context) (err error) {
	if w.out.Object, err = reply(ctx, &w.request, &w.progress); err != nil {
		return final{error: err}
	}
	return nil
}
