package audit

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/api"
)

// maxUserAgent is how much is kept of what a client calls itself, in bytes, as
// in kube-apiserver.
const maxUserAgent = 1024

const cut = "...TRUNCATED"

// truncatedKey is the annotation of an event whose bodies were left out.
const truncatedKey = "audit.k8s.io/truncated"

// eventOf is what is written of a request.
func eventOf(a *api.Audit) *auditv1.Event {
	e := &auditv1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: auditv1.SchemeGroupVersion.String(), Kind: "Event"},
		Level:    auditv1.Level(a.Level.String()), Stage: auditv1.Stage(a.Stage.String()),
		AuditID: types.UID(a.Request.ID), Verb: a.Info.Verb,
		RequestURI: (&url.URL{Path: a.Request.Path, RawQuery: a.Request.Query}).RequestURI(),
		SourceIPs:  addresses(a.Request), UserAgent: a.Request.UserAgent,
		RequestReceivedTimestamp: metav1.NewMicroTime(a.Received), StageTimestamp: metav1.NewMicroTime(a.At),
		Annotations: a.Annotations,
	}
	if len(e.UserAgent) > maxUserAgent {
		e.UserAgent = e.UserAgent[:maxUserAgent] + cut
	}
	if a.User != nil {
		e.User = a.User.Info()
	}
	if a.Impersonated != nil {
		u := a.Impersonated.Info()
		e.ImpersonatedUser = &u
	}
	if a.Constraint != "" {
		e.AuthenticationMetadata = &auditv1.AuthenticationMetadata{ImpersonationConstraint: a.Constraint}
	}
	sent := a.Sent
	if !json.Valid(sent) {
		sent = nil
	}
	e.ObjectRef = reference(&a.Info, sent)
	if a.Stage != api.Received {
		e.ResponseStatus = status(a)
	}
	if a.Level >= api.KeepRequest {
		e.RequestObject = body(sent, a.Unmanaged)
	}
	if a.Level >= api.KeepResponse {
		e.ResponseObject = body(a.Replied, a.Unmanaged)
	}
	if a.Overlong {
		e.Annotations = annotated(e.Annotations)
	}
	return e
}

// body is JSON as an event holds it, nil of what is none.
func body(data []byte, unmanaged bool) *runtime.Unknown {
	if len(data) == 0 || !json.Valid(data) {
		return nil
	}
	if unmanaged {
		data = withoutManaged(data)
	}
	return &runtime.Unknown{Raw: data, ContentType: runtime.ContentTypeJSON}
}

// annotated is a copy of annotations that says that bodies were left out.
func annotated(annotations map[string]string) map[string]string {
	out := map[string]string{truncatedKey: "true"}
	for k, v := range annotations {
		out[k] = v
	}
	return out
}

// addresses are where a request comes from, as it says and as it is.
func addresses(r *api.Request) []string {
	asked := http.Request{Header: http.Header{}}
	if r.Remote != nil {
		asked.RemoteAddr = r.Remote.String()
	}
	if r.ForwardedFor != "" {
		asked.Header.Set("X-Forwarded-For", r.ForwardedFor)
	}
	if r.RealIP != "" {
		asked.Header.Set("X-Real-Ip", r.RealIP)
	}
	var out []string
	for _, ip := range utilnet.SourceIPs(&asked) {
		out = append(out, net.IP(ip).String())
	}
	return out
}

// reference names what a request is about; what it does not name the object does that
// was sent.
func reference(i *api.Info, sent []byte) *auditv1.ObjectReference {
	if !i.Resource {
		return nil
	}
	a := i.Attributes(nil)
	out := &auditv1.ObjectReference{
		Resource: i.Plural, Namespace: i.Namespace, Name: a.Name, APIGroup: i.Group, APIVersion: i.Version, Subresource: i.Subresource,
	}
	if len(sent) == 0 || i.Verb != "create" && i.Verb != "update" {
		return out
	}
	said := object.Fields(object.Field(sent, "metadata"), "namespace", "name", "uid", "resourceVersion")
	text := func(n int) string {
		s, _ := object.String(said[n])
		return s
	}
	if out.Namespace == "" {
		out.Namespace = text(0)
	}
	if out.Name == "" {
		out.Name = text(1)
	}
	out.UID, out.ResourceVersion = types.UID(text(2)), text(3)
	return out
}

// status is how the request ended. Of a reply that is a Status it has what the client
// was told.
func status(a *api.Audit) *metav1.Status {
	if a.Panic != "" {
		return &metav1.Status{Code: http.StatusInternalServerError, Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Message: a.Panic}
	}
	out := &metav1.Status{}
	if json.Unmarshal(a.Status, out) != nil || out.Kind != "Status" {
		out = &metav1.Status{}
	}
	out.TypeMeta, out.ListMeta = metav1.TypeMeta{}, metav1.ListMeta{}
	out.Code = int32(a.Code)
	return out
}
