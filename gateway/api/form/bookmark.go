package form

import (
	"context"
	"encoding/json"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/wasmgate/wasmgate/gateway/api/dialect"
)

// bookmark tells the client up to which revision it has seen everything, by an
// object of its form that is empty but for that.
func (s *Stream) bookmark(ctx context.Context, revision int64, initialEnd bool) error {
	if s.form.as == "PartialObjectMetadataList" {
		return errUntold
	}
	data, err := s.empty(revision, initialEnd)
	if err == nil && s.form.table() {
		data, err = s.table(ctx, data)
	}
	if err != nil {
		return err
	}
	return s.tell(watch.Bookmark, data)
}

// empty is an object of the watched kind that has nothing but a revision. What a Go
// type cannot leave out is there where the object is sent.
func (s *Stream) empty(revision int64, initialEnd bool) ([]byte, error) {
	meta := metav1.ObjectMeta{ResourceVersion: strconv.FormatInt(revision, 10)}
	if initialEnd {
		meta.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	bare := metav1.PartialObjectMetadata{ObjectMeta: meta}
	bare.APIVersion, bare.Kind = s.form.kind(s.target).ToAPIVersionAndKind()
	var o any = &bare
	if !s.form.partial() && !s.form.table() {
		o = dialect.Whole(s.target, &bare)
	}
	data, err := json.Marshal(o)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return data, nil
}
