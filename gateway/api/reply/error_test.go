package reply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/authz"
)

func TestError(t *testing.T) {
	things := schema.GroupResource{Group: "example.com", Resource: "things"}
	for name, c := range map[string]struct {
		err    error
		code   int
		reason metav1.StatusReason
		header *Header
	}{
		"status":         {apierrors.NewNotFound(things, "x"), 404, metav1.StatusReasonNotFound, nil},
		"wrapped status": {fmt.Errorf("reading: %w", apierrors.NewConflict(things, "x", errors.New("changed"))), 409, metav1.StatusReasonConflict, nil},
		"any other":      {errors.New("disk on fire"), 500, "", nil},
		"no code":        {&apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure}}, 500, "", nil},
		"out of time":    {fmt.Errorf("converting: %w", context.DeadlineExceeded), 504, metav1.StatusReasonTimeout, nil},
		"retry":          {apierrors.NewTooManyRequests("later", 7), 429, metav1.StatusReasonTooManyRequests, &Header{"Retry-After", "7"}},
		"unknown user":   {authz.UnauthorizedError(), 401, metav1.StatusReasonUnauthorized, &Header{"Www-Authenticate", `Bearer realm="wasmgate"`}},
		"large body":     {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), 413, metav1.StatusReasonRequestEntityTooLarge, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Error(c.err)
			if got.Code != c.code || got.ContentType != "application/json" || !bytes.Contains(got.Body, []byte(`"kind":"Status","apiVersion":"v1"`)) {
				t.Errorf("%d %s %s", got.Code, got.ContentType, got.Body)
			}
			if c.reason != "" && !bytes.Contains(got.Body, []byte(`"reason":"`+c.reason+`"`)) {
				t.Errorf("reason: %s", got.Body)
			}
			if c.header != nil && !reflect.DeepEqual(got.Headers, []Header{*c.header}) {
				t.Errorf("headers %v", got.Headers)
			}
		})
	}
	if got := Error(apierrors.NewRequestEntityTooLargeError("limit is 3145728")); !bytes.Contains(got.Body, []byte(`"Request entity too large: limit is 3145728"`)) {
		t.Errorf("%s", got.Body)
	}
	if got := Unavailable(); got.Code != 503 || !reflect.DeepEqual(got.Headers, []Header{{"Retry-After", "1"}}) {
		t.Errorf("%d %v", got.Code, got.Headers)
	}
}
