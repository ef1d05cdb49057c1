package server

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/transport"
)

// refused has an auditor keep a record of what never became a request: there is no
// user, and of what was asked for only what could be read. It is nil without one.
func refused(auditor api.Auditor) func(transport.Refusal) {
	if auditor == nil {
		return nil
	}
	return func(r transport.Refusal) {
		now := time.Now()
		a := &api.Audit{
			Request: &api.Request{ID: string(uuid.NewUUID()), Method: r.Method, Path: r.Path, Remote: r.Remote},
			Info:    api.Info{Verb: strings.ToLower(r.Method), Path: r.Path}, Stage: api.Complete, Received: now, At: now,
			Code: r.Code, Status: reply.Failure(r.Code, r.Message).Body,
		}
		if a.Keep = auditor.Judge(&a.Info, nil); a.Level != api.KeepNone && !a.Omit.Has(a.Stage) {
			auditor.Audit(a)
		}
	}
}
