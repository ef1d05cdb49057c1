package webhook

import (
	"errors"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
)

const (
	reviewGroup = "admission.k8s.io/"
	reviewKind  = "AdmissionReview"
)

// MaxReplyBytes is the largest reply of a webhook that is read: a patch that
// writes the largest object anew, in base64, and room beside it.
const MaxReplyBytes = 16 << 20

// maxMessage is the most bytes of a webhook's message that are repeated.
const maxMessage = 16 << 10

// appendReview appends the review of a request at a version. The states are
// JSON, nil for none.
func (r *dispatch) appendReview(dst []byte, review, uid, version string, now, old []byte) []byte {
	kind, resource, subresource := admission.KindAt(r, version), admission.ResourceAt(r, version), r.GetSubresource()
	text := func(before, value string) { dst = object.AppendString(append(dst, before...), value) }
	text(`{"kind":"`+reviewKind+`","apiVersion":`, reviewGroup+review)
	text(`,"request":{"uid":`, uid)
	for _, of := range []struct {
		kind, resource, subresource string
		gvk                         schema.GroupVersionKind
		gvr                         schema.GroupVersionResource
	}{
		{"kind", "resource", "subResource", kind, resource},
		{"requestKind", "requestResource", "requestSubResource", r.GetKind(), r.GetResource()},
	} {
		text(`,"`+of.kind+`":{"group":`, of.gvk.Group)
		text(`,"version":`, of.gvk.Version)
		text(`,"kind":`, of.gvk.Kind)
		text(`},"`+of.resource+`":{"group":`, of.gvr.Group)
		text(`,"version":`, of.gvr.Version)
		text(`,"resource":`, of.gvr.Resource)
		dst = append(dst, '}')
		if subresource != "" {
			text(`,"`+of.subresource+`":`, subresource)
		}
	}
	if name := r.GetName(); name != "" {
		text(`,"name":`, name)
	}
	if namespace := r.GetNamespace(); namespace != "" {
		text(`,"namespace":`, namespace)
	}
	text(`,"operation":`, string(r.GetOperation()))
	dst = append(append(dst, `,"userInfo":`...), r.user...)
	dst = append(append(dst, `,"object":`...), orNull(now)...)
	dst = append(append(dst, `,"oldObject":`...), orNull(old)...)
	dst = fmt.Appendf(dst, `,"dryRun":%t,"options":`, r.IsDryRun())
	return append(append(dst, r.options...), "}}"...)
}

func orNull(data []byte) []byte {
	if data == nil {
		return []byte("null")
	}
	return data
}

// parseReview reads the reply to a review of a version with a uid. Both
// versions of reviews have the same fields; v1beta1 was never checked as
// strictly: what it does not say of itself is what was asked for.
func parseReview(reply []byte, review, uid string, mutating bool) (*admissionv1.AdmissionResponse, error) {
	// What a reply is may be said in any case, as kube-apiserver has it.
	is, err := kubejson.DefaultMetaFactory.Interpret(reply)
	if err != nil {
		return nil, &unreadable{err}
	}
	var got admissionv1.AdmissionReview
	if err := kjson.UnmarshalCaseSensitivePreserveInts(reply, &got); err != nil {
		return nil, &unreadable{err}
	}
	if err := readable(*is, review); review == "v1beta1" && err != nil {
		return nil, &unreadable{err}
	}
	out := got.Response
	if out == nil {
		return nil, errors.New("webhook response was absent")
	}
	if review == "v1beta1" {
		if !mutating {
			out.Patch = nil
		}
		return out, nil
	}
	if string(out.UID) != uid {
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, out.UID)
	}
	if want, gvk := reviewGroup+review+", Kind="+reviewKind, got.GroupVersionKind(); gvk.String() != want {
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want, gvk)
	}
	return out, checkPatch(out, mutating)
}

// Asked reads of a review what its answer has to repeat: its version, and the uid of
// its request.
func Asked(body []byte) (version, uid string, err error) {
	var asked struct {
		metav1.TypeMeta
		Request *struct {
			UID string `json:"uid"`
		} `json:"request"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &asked); err != nil {
		return "", "", fmt.Errorf("the body is no %s: %w", reviewKind, err)
	}
	version, ok := strings.CutPrefix(asked.APIVersion, reviewGroup)
	switch {
	case asked.Kind != reviewKind || !ok || version != "v1" && version != "v1beta1":
		return "", "", fmt.Errorf("expected an %s of %sv1, got %s, Kind=%s", reviewKind, reviewGroup, cut(asked.APIVersion), cut(asked.Kind))
	case asked.Request == nil || asked.Request.UID == "":
		return "", "", fmt.Errorf("the %s has no request.uid", reviewKind)
	}
	return version, asked.Request.UID, nil
}

// Answered tells whether a reply answers a review of a version with a uid; a patch is
// allowed, as only who asked knows whether one may be.
func Answered(reply []byte, version, uid string) error {
	if len(reply) > MaxReplyBytes {
		return fmt.Errorf("the reply is larger than %d bytes", MaxReplyBytes)
	}
	_, err := parseReview(reply, version, uid, true)
	return err
}

// readable reports what a reply says that it is, if that is no review of a
// version. It may be silent about it.
func readable(got schema.GroupVersionKind, review string) error {
	want := schema.GroupVersion{Group: strings.TrimSuffix(reviewGroup, "/"), Version: review}.WithKind(reviewKind)
	if got.Kind == "" {
		got.Kind = want.Kind
	}
	if got.Version == "" && (got.Group == "" || got.Group == want.Group) {
		got.Group, got.Version = want.Group, want.Version
	}
	if got != want {
		return fmt.Errorf("expected webhook response of %v, got %v", want, got)
	}
	return nil
}

// unreadable is a reply that is no review.
type unreadable struct{ error }

// Unwrap returns the cause.
func (u *unreadable) Unwrap() error { return u.error }

// checkPatch refuses a patch without its type, and any of a webhook that only
// validates.
func checkPatch(a *admissionv1.AdmissionResponse, mutating bool) error {
	switch {
	case !mutating && len(a.Patch) > 0:
		return errors.New("validating webhook may not return response.patch")
	case !mutating && a.PatchType != nil:
		return errors.New("validating webhook may not return response.patchType")
	case len(a.Patch) > 0 && a.PatchType == nil:
		return errors.New("webhook returned response.patch but not response.patchType")
	case len(a.Patch) == 0 && a.PatchType != nil:
		return errors.New("webhook returned response.patchType but not response.patch")
	case a.PatchType != nil && *a.PatchType == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", *a.PatchType)
	}
	return nil
}
