package write

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// takesTime tells that a deletion is under way that gives whoever acts on the
// object some time; a deletion without any ends it.
func takesTime(obj *unstructured.Unstructured) bool {
	seconds := obj.GetDeletionGracePeriodSeconds()
	return obj.GetDeletionTimestamp() != nil && seconds != nil && *seconds > 0
}

// begin marks obj as being deleted, in so many seconds.
func begin(obj *unstructured.Unstructured, seconds int64) {
	at := metav1.NewTime(time.Now().Add(time.Duration(seconds) * time.Second)).Rfc3339Copy()
	obj.SetDeletionTimestamp(&at)
	if g := obj.GetGeneration(); g > 0 {
		obj.SetGeneration(g + 1)
	}
}

// shorten makes a deletion that takes time take less of it, and tells whether it
// does: nobody can make it longer.
func shorten(obj *unstructured.Unstructured, asked *int64) bool {
	has := *obj.GetDeletionGracePeriodSeconds()
	if asked == nil || *asked >= has {
		return false
	}
	at := metav1.NewTime(obj.GetDeletionTimestamp().Add(time.Duration(*asked-has) * time.Second))
	obj.SetDeletionTimestamp(&at)
	obj.SetDeletionGracePeriodSeconds(asked)
	return true
}

// seconds is how long options want a deletion to take, nil if they do not say.
// Less than nothing is a second, as in kube-apiserver.
func seconds(o *metav1.DeleteOptions) *int64 {
	if s := o.GracePeriodSeconds; s != nil && *s < 0 {
		return new(int64(1))
	}
	return o.GracePeriodSeconds
}

// finishTimeout bounds how long the client of a deletion waits for its second write.
const finishTimeout = 5 * time.Second

// markedOnly tells that a deletion was committed as a mark on an object that nothing
// holds up any more.
func (w *Write) markedOnly() bool {
	def := w.Resource.Def
	return def.Grace != nil && w.ending == stores && !w.Options.DryRun && released(def, w.object)
}

// unmarked has an object removed at once for whose mark the store has no room: what is full
// has to become emptier by deletions.
func (w *Write) unmarked(err error) bool {
	var done final // whose reason counts: IsInternalError is true of what was not confirmed, too
	full := errors.As(err, &done) && (apierrors.ReasonForError(done.error) == metav1.StatusReasonInternalError || apierrors.IsRequestEntityTooLargeError(done.error))
	if _, deletes := w.source.(deleting); !full || !deletes || !w.markedOnly() {
		return false
	}
	w.ending = removes
	return true
}

// finish removes what this write marked as deleted at once. These are two writes, as in
// kube-apiserver: controllers act on the mark, which they would not see in one. Plugins
// were asked about the deletion, and are not asked again. If somebody else was faster,
// the object is gone all the same.
func (w *Write) finish(ctx context.Context) (*resource.Written, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout) // half a deletion is none
	defer cancel()
	r, uid := w.request, w.object.GetUID()
	r.unasked = true
	last := &Write{request: r, writer: w.writer, source: deleting{options: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}, objects: w.writer.o.Objects}}
	last.operation = admission.Delete
	out, err := last.run(ctx)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) && w.another(ctx, uid) {
		out, err = w.out, nil
		out.Deleted = true
	}
	return out, err
}

// another reports whether an object of another UID, or none, has the name by now.
func (w *Write) another(ctx context.Context, than types.UID) bool {
	now, err := current(ctx, w.writer.reads, &w.request, true)
	if err != nil || now.Entry == nil {
		return apierrors.IsNotFound(err) || err == nil
	}
	meta, err := w.Resource.Metadata(now.Entry)
	uid, _ := object.String(object.Field(meta, "uid"))
	return err == nil && uid != string(than)
}

// ended is what the client is told of an object that it deleted: as it was, and,
// of a kind whose deletions take time, marked.
func ended(r *request, p *progress) ([]byte, error) {
	data := p.present.data
	if r.Resource.Def.Grace == nil {
		return data, nil
	}
	start, end, err := object.Metadata(data)
	if err != nil {
		return nil, err
	}
	meta, _, err := object.Parse(data[start:end])
	if err != nil {
		return nil, err
	}
	marked, _ := p.object.Object["metadata"].(map[string]any)
	for _, name := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "generation"} {
		if v, ok := marked[name]; ok {
			meta[name] = v
		}
	}
	return object.WithMetadata(data, meta)
}
