package audit

import (
	"encoding/json"
	"net"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/wasmgate/wasmgate/gateway/api"
)

// maxUserAgent is how much is kept of what a client calls itself, in bytes, as
// in kube-apiserver.
const maxUserAgent = 1024

const cut = "...TRUNCATED"

// event is what is written of a request.
func event(a *api.Audit) *auditv1.Event {
	e := &auditv1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: auditv1.SchemeGroupVersion.String(), Kind: "Event"},
		Level:    auditv1.LevelMetadata, Stage: auditv1.StageResponseComplete,
		AuditID: types.UID(a.Request.ID), RequestURI: a.Request.Path, Verb: a.Info.Verb,
		SourceIPs: addresses(a.Request.Remote), UserAgent: a.Request.UserAgent,
		ObjectRef: object(&a.Info), ResponseStatus: status(a),
		RequestReceivedTimestamp: metav1.NewMicroTime(a.Received), StageTimestamp: metav1.NewMicroTime(a.Answered),
		Annotations: a.Annotations,
	}
	if a.Begun {
		e.Stage = auditv1.StageResponseStarted
	}
	if a.Request.Query != "" {
		e.RequestURI += "?" + a.Request.Query
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
	return e
}

func addresses(remote net.Addr) []string {
	if remote == nil {
		return nil
	}
	host, _, err := net.SplitHostPort(remote.String())
	if err != nil {
		return nil
	}
	return []string{host}
}

func object(i *api.Info) *auditv1.ObjectReference {
	if !i.Resource {
		return nil
	}
	return &auditv1.ObjectReference{
		Resource: i.Plural, Namespace: i.Namespace, Name: i.Name, APIGroup: i.Group, APIVersion: i.Version, Subresource: i.Subresource,
	}
}

// status is how the request ended. Of a refusal it has what the client was told.
func status(a *api.Audit) *metav1.Status {
	out := &metav1.Status{}
	if json.Unmarshal(a.Failure, out) != nil || out.Kind != "Status" {
		out = &metav1.Status{}
	}
	out.TypeMeta = metav1.TypeMeta{}
	out.Code = int32(a.Code)
	return out
}
