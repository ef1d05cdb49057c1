package reply

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrNoPath is the refusal of a path that addresses nothing, which is no Status.
var ErrNoPath = errors.New("404 page not found")

// Error makes a Status reply of an error. What is no status error is
// an internal one, worded as kube-apiserver does.
func Error(err error) *Response {
	if errors.Is(err, ErrNoPath) {
		return notFound()
	}
	var api apierrors.APIStatus
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	switch {
	case errors.As(err, &api):
		status = api.Status()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		status = apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0).Status()
	}
	if status.Code == 0 {
		status.Code = http.StatusInternalServerError
	}
	resp := statusResponse(status)
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		resp.Headers = append(resp.Headers, Header{"Retry-After", strconv.Itoa(int(d.RetryAfterSeconds))})
	}
	if status.Code == http.StatusUnauthorized {
		resp.Headers = append(resp.Headers, Header{"Www-Authenticate", `Bearer realm="wasmgate"`})
	}
	return resp
}

// RetryAfter is how many seconds a client should wait that was refused for what
// others do.
const RetryAfter = 1

// NoSniff tells browsers not to guess what a body is.
var NoSniff = Header{"X-Content-Type-Options", "nosniff"}

func statusResponse(s metav1.Status) *Response {
	return &Response{Code: int(s.Code), ContentType: "application/json", Body: Status(s)}
}

// Status is a Status in JSON.
func Status(s metav1.Status) []byte {
	s.Kind, s.APIVersion = "Status", "v1"
	b, err := json.Marshal(s)
	if err != nil { // a Status has no value that JSON cannot hold
		return []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":500}`)
	}
	return append(b, '\n')
}

// notFound is kube-apiserver's answer for a path that addresses nothing.
func notFound() *Response {
	return &Response{
		Code: http.StatusNotFound, ContentType: "text/plain; charset=utf-8", Body: []byte("404 page not found\n"),
		Headers: []Header{NoSniff},
	}
}

// Unavailable is the reply of a gateway that does not know yet what it serves.
// A 404 would be a lie that clients act upon.
func Unavailable() *Response {
	err := apierrors.NewServiceUnavailable("the gateway is starting and has not read the definitions yet")
	err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
	return Error(err)
}

// Failure is the reply to what never became a request.
func Failure(code int, message string) *Response {
	s := metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Message: message}
	switch code {
	case http.StatusBadRequest:
		s.Reason = metav1.StatusReasonBadRequest
	case http.StatusRequestTimeout:
		s.Reason = metav1.StatusReasonTimeout
	case http.StatusInternalServerError:
		s.Reason = metav1.StatusReasonInternalError
	}
	return statusResponse(s)
}

// Stopping is the reply to who comes while the server stops; another one, or
// the next, will answer.
func Stopping() *Response {
	return Error(apierrors.NewTooManyRequests("The apiserver is shutting down, please try again later.", 1))
}
