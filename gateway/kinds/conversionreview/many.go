package conversionreview

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/view"
)

const (
	// maxConverted bounds what several objects become, in bytes of JSON.
	maxConverted = 16 << 20
	// togetherObjects and togetherBytes bound what is converted before it is looked at how
	// large it became.
	togetherObjects, togetherBytes = 100, 256 << 10
)

// ofOne are the codes of refusals that are about one object.
var ofOne = []int32{http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusInternalServerError}

// undecided is the error of an authorizer, which is about none of the objects.
type undecided struct{ *apierrors.StatusError }

// Unwrap returns what the client is told.
func (u *undecided) Unwrap() error { return u.StatusError }

// many is the status of a review of several objects while it is made.
type many struct {
	out  []any
	size int // of what was converted, in bytes of JSON
}

// waiting is an object that has to be converted, the n-th of the review.
type waiting struct {
	question
	n    int
	text []byte
}

// all are the objects of a review, each converted, or why it is not. What concerns more
// than one of them is an error.
func (a answers) all(ctx context.Context, user *authn.User, spec map[string]any, objects []any) ([]any, error) {
	m := many{out: make([]any, len(objects))}
	var queue []waiting
	for i, obj := range objects {
		if ctx.Err() != nil {
			return nil, view.ErrTimeout()
		}
		tree, _ := obj.(map[string]any)
		q, err := a.settled(ctx, user, spec, path.Child("objects").Index(i), tree)
		var text []byte
		if err == nil {
			text, err = object.Encode(q.object)
		}
		switch {
		case err != nil || q.from == q.to:
			err = m.put(ctx, i, q.object, err)
		default:
			queue = append(queue, waiting{q, i, text})
		}
		if err != nil {
			return nil, err
		}
	}
	for len(queue) > 0 {
		n := together(queue)
		if err := m.convert(ctx, queue[:n]); err != nil {
			return nil, err
		}
		queue = queue[n:]
	}
	return m.out, nil
}

// together is how many of the first are converted at once: they are of one kind, and not
// too large.
func together(queue []waiting) int {
	size := 0
	for n, w := range queue[:min(len(queue), togetherObjects)] {
		size += len(w.text)
		if n > 0 && (w.Def != queue[0].Def || size > togetherBytes) {
			return n
		}
	}
	return min(len(queue), togetherObjects)
}

// convert converts objects of one kind, and those one by one of which some do not convert.
func (m *many) convert(ctx context.Context, some []waiting) error {
	texts := make([][]byte, len(some))
	for i, w := range some {
		texts[i] = w.text
	}
	to := some[0].to.Name
	trees, err := some[0].ConvertTrees(ctx, texts, to)
	for i, w := range some {
		why := err
		switch {
		case trees[i] != nil:
			why = nil
		case len(some) > 1 && ofSome(err):
			trees[i], why = w.ConvertTree(ctx, w.object, to)
		}
		if err := m.put(ctx, w.n, trees[i], why); err != nil {
			return err
		}
	}
	return nil
}

// ofSome tells that the objects are why they were not converted, so that others of them may
// be: a converter that is not there, or takes too long, is not asked about each.
func ofSome(err error) bool {
	var u *view.UnconvertedError
	return errors.As(err, &u) && (u.OfObjects || u.Choked)
}

// put notes what became of an object, or why nothing did. Its error is about more than
// that.
func (m *many) put(ctx context.Context, n int, converted map[string]any, why error) error {
	if ctx.Err() != nil {
		return view.ErrTimeout()
	}
	if why == nil {
		m.out[n] = map[string]any{"object": converted}
		text, err := object.Encode(converted)
		if m.size += len(text); err == nil && m.size > maxConverted {
			err = apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the objects have more than %d bytes once they are converted: ask about fewer at a time", maxConverted))
		}
		return err
	}
	var status apierrors.APIStatus
	if errors.As(why, new(*undecided)) || !errors.As(why, &status) || !slices.Contains(ofOne, status.Status().Code) {
		return why
	}
	s := status.Status()
	m.out[n] = map[string]any{"error": map[string]any{"code": int64(s.Code), "reason": string(s.Reason), "message": s.Message}}
	return nil
}
