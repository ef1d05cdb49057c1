// Package question owns the question how a module would order the versions of a
// group, before anything is bound to it: a POST of a VersionPriorityReview to a
// WasmModule's prioritize.
//
// It must not know how modules run, nor what becomes of an order.
package question

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wasmgate/wasmgate/crd/priority"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/plugins"
)

// Preview answers the question. All fields are required.
type Preview struct {
	// Versions are those that a group serves, in the Kubernetes order.
	Versions func(ctx context.Context, group string) ([]string, error)
	// Exists fails for a module that does not exist.
	Exists func(ctx context.Context, t resource.Target) error
	// Judge lets admission change and judge what a client sends.
	Judge func(ctx context.Context, t resource.Target, s resource.Sent, o resource.WriteOptions) error
	// Prioritize asks the module called name; the reply belongs to accept.
	Prioritize func(ctx context.Context, name string, review []byte, accept func(reply []byte) error) error
}

// maxVersions is how many versions may be asked about, more than a group has.
const maxVersions = 1000

const media = "application/json"

var reviewKind = schema.FromAPIVersionAndKind(priority.APIVersion, priority.ReviewKind)

// Answer completes the request with the versions that are served if it names none,
// and returns it with the module's response.
func (p Preview) Answer(ctx context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (any, error) {
	sent, err := read(contentType, body)
	if err != nil {
		return nil, err
	}
	if err := p.Exists(ctx, t); err != nil {
		return nil, err
	}
	if err := p.Judge(ctx, t, resource.Sent{Kind: reviewKind, Object: sent, Prepare: func(context.Context) error { return check(sent.Request) }}, o); err != nil {
		return nil, err
	}
	request := sent.Request
	if len(request.Versions) == 0 {
		if request.Versions, err = p.Versions(ctx, request.Group); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
	}
	if len(request.Versions) == 0 {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("request.group: %q serves nothing; name versions in request.versions to ask about them", request.Group))
	}
	request = priority.Ask(request.Group, request.Versions)
	review, err := request.Encode()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	out := priority.Review{APIVersion: priority.APIVersion, Kind: priority.ReviewKind, Request: request, Response: &priority.Response{UID: request.UID}}
	if err := p.Prioritize(ctx, t.Name, review, func(reply []byte) (err error) {
		out.Response.Versions, err = request.Accept(reply)
		return err
	}); err != nil {
		return nil, unanswered(t.Name, err)
	}
	return out, nil
}

// unanswered is the error of a module that gave no order. That it was asked for
// what it does not do is a mistake of whoever asked.
func unanswered(name string, err error) error {
	err = fmt.Errorf("module %q orders nothing: %w", name, err)
	var failed *plugins.CallError
	if errors.As(err, &failed) && failed.Kind == plugins.Refused {
		return apierrors.NewBadRequest(err.Error())
	}
	return apierrors.NewInternalError(err)
}

// read reads and checks what is asked.
func read(contentType string, body []byte) (*priority.Review, error) {
	if m, _, err := mime.ParseMediaType(contentType); contentType != "" && (err != nil || m != media) {
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
			Message: fmt.Sprintf("a %s has the media type %s", priority.ReviewKind, media),
		}}
	}
	var review priority.Review
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, apierrors.NewBadRequest("the body is not a " + priority.ReviewKind + ": " + err.Error())
	}
	if review.APIVersion != priority.APIVersion || review.Kind != priority.ReviewKind || review.Request == nil {
		return nil, apierrors.NewBadRequest("the body is not a " + priority.ReviewKind + " of " + priority.APIVersion + " with a request")
	}
	return &review, check(review.Request)
}

func check(r *priority.Request) error {
	if r == nil {
		return apierrors.NewBadRequest("the " + priority.ReviewKind + " has no request")
	}
	var errs []error
	for _, msg := range validation.IsDNS1123Subdomain(r.Group) {
		errs = append(errs, fmt.Errorf("request.group: %q: %s", r.Group, msg))
	}
	if len(r.Versions) > maxVersions {
		return apierrors.NewBadRequest(fmt.Sprintf("request.versions: at most %d are looked at", maxVersions))
	}
	seen := map[string]bool{}
	for i, v := range r.Versions {
		for _, msg := range validation.IsDNS1035Label(v) {
			errs = append(errs, fmt.Errorf("request.versions[%d]: %q: %s", i, v, msg))
		}
		if seen[v] {
			errs = append(errs, fmt.Errorf("request.versions[%d]: %q is there twice", i, v))
		}
		seen[v] = true
	}
	if len(errs) > 0 {
		return apierrors.NewBadRequest(errors.Join(errs...).Error())
	}
	return nil
}
