package read

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// maxUnreadable is how many objects that cannot be read an error names at most, as
// in kube-apiserver.
const maxUnreadable = 100

// NameUnreadable makes an error of a list of t, if it is because objects cannot be
// read, name all of these, as far as ctx allows. One that is about what they were
// and are no longer stays as it is.
func (e *Reader) NameUnreadable(ctx context.Context, t resource.Target, err error) error {
	if !errors.As(err, new(*view.UnreadableError)) {
		return err
	}
	prefix := ""
	if t.Namespace != "" {
		prefix = t.Namespace + "/"
	}
	var causes []metav1.StatusCause
	t.Resource.Bucket().Snapshot().Ascend(prefix, "", func(it watchcache.Item[*view.Entry]) bool {
		why := t.Resource.Readable(it.Value)
		switch {
		case why == nil:
			return ctx.Err() == nil
		case len(causes) == maxUnreadable:
			causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeTooMany, Message: "too many errors, the list is truncated"})
			return false
		}
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Field: t.Resource.Root() + it.Key, Message: why.Error()})
		return ctx.Err() == nil
	})
	if len(causes) == 0 {
		return err
	}
	gr := t.Resource.GroupResource()
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonStoreReadError,
		Details: &metav1.StatusDetails{Group: gr.Group, Kind: gr.Resource, Name: "list", Causes: causes},
		Message: "failed to read one or more " + gr.String() + " from the storage",
	}}
}
