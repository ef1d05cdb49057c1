package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/wasmgate/wasmgate/excerpt"
)

// failed is a call without an answer, or with one that makes no sense. It is
// what failurePolicy is about.
type failed struct {
	hook  string
	cause error
}

func (f *failed) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %s", f.hook, cut(f.cause.Error()))
}

// Unwrap returns the cause.
func (f *failed) Unwrap() error { return f.cause }

// call asks the webhook about a request at a version. Its error is a *failed,
// or the client's. by is the digest of the module that answered, "" for others.
func (h *Hook) call(ctx context.Context, r *dispatch, version string, now, old []byte) (answer *admissionv1.AdmissionResponse, by string, err error) {
	if r.IsDryRun() && !h.harmless {
		return nil, "", apierrors.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", h.Name))
	}
	if h.uncallable != nil {
		return nil, "", &failed{h.Name, h.uncallable}
	}
	uid := string(uuid.NewUUID())
	review := r.appendReview(make([]byte, 0, 2048+len(now)+len(old)), h.version, uid, version, now, old)
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	by, err = h.caller.Call(ctx, review, func(reply []byte) (err error) {
		if len(reply) > MaxReplyBytes {
			return fmt.Errorf("the reply is larger than %d bytes", MaxReplyBytes)
		}
		if answer, err = parseReview(reply, h.version, uid, h.Mutating); err != nil {
			err = &senseless{err}
		}
		return err
	})
	var s *senseless
	var u *unreadable
	switch {
	case errors.As(err, &s) && !errors.As(err, &u):
		return nil, by, &failed{h.Name, fmt.Errorf("received invalid webhook response: %w", s.error)}
	case err != nil:
		return nil, by, &failed{h.Name, fmt.Errorf("failed to call webhook: %w", err)}
	}
	return answer, by, nil
}

// senseless is the error of a reply that arrived.
type senseless struct{ error }

// Unwrap returns the cause.
func (s *senseless) Unwrap() error { return s.error }

// verdict is the refusal that the webhook's answer is, or nil.
func (h *Hook) verdict(a *admissionv1.AdmissionResponse) error {
	if a.Allowed {
		return nil
	}
	status := metav1.Status{}
	if a.Result != nil {
		status = *a.Result
	}
	// A refusal is one, whatever its status says, and HTTP has three digits.
	if status.Code < http.StatusBadRequest || status.Code > 999 {
		status.Code = http.StatusBadRequest
	}
	if status.Status == "" || status.Status == metav1.StatusSuccess {
		status.Status = metav1.StatusFailure
	}
	denied := fmt.Sprintf("admission webhook %q denied the request", h.Name)
	switch {
	case status.Message != "":
		status.Message = denied + ": " + cut(status.Message)
	case status.Reason != "":
		status.Message = denied + ": " + cut(string(status.Reason))
	default:
		status.Message = denied + " without explanation"
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// cut bounds a text that somebody else wrote.
func cut(text string) string { return excerpt.Of(text, maxMessage) }

// applyFailurePolicy makes of the error of a call what the client is told; nil when the
// webhook's failures are ignored.
func (h *Hook) applyFailurePolicy(ctx context.Context, r *dispatch, err error) (refused, ignored error) {
	var f *failed
	switch {
	case !errors.As(err, &f):
		return err, nil
	case !h.ignores:
		return apierrors.NewInternalError(f), nil
	}
	r.Ignored(h, f)
	if ctx.Err() != nil {
		return errTimeout(), f
	}
	return nil, f
}

func errTimeout() error {
	return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
}
