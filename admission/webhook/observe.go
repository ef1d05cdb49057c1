package webhook

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
)

// What became of a call that was no success, in the words of kube-apiserver's
// metrics.
const (
	// Refused: the webhook refused the request.
	Refused = "no_error"
	// Failed: it gave no answer that makes sense.
	Failed = "calling_webhook_error"
	// Impossible: its answer could not be carried out.
	Impossible = "apiserver_internal_error"
)

// Call is one call of a webhook, for who counts and logs.
type Call struct {
	Hook      *Hook
	Operation admission.Operation
	Elapsed   time.Duration
	// Outcome is "" for a request that was allowed.
	Outcome string
	// Rejected tells that the request is refused because of it: a failure may be
	// ignored.
	Rejected bool
	// Code is the HTTP status of the decision, 0 where there is none.
	Code int
	// Err is what the outcome comes from, nil for "".
	Err error
}

// observe tells of a call that began at a time; refused:  its error is
// the webhook's own.
func (r *dispatch) observe(h *Hook, begun time.Time, refused bool, err error) {
	c := Call{Hook: h, Operation: r.GetOperation(), Elapsed: time.Since(begun), Rejected: err != nil, Err: err}
	var f *failed
	var status apierrors.APIStatus
	switch {
	case err == nil:
		c.Code = 200
	case errors.As(err, &f):
		c.Outcome, c.Rejected = Failed, !h.ignores
	case refused && errors.As(err, &status):
		c.Outcome, c.Code = Refused, int(status.Status().Code)
	default:
		c.Outcome = Impossible
	}
	if h.Mutating { // others are asked at the same time
		r.Waited(c.Elapsed)
	}
	r.Called(r.Attributes, c)
}
