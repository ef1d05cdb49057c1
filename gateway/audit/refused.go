package audit

import (
	"net"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// Refused has an auditor keep a record of what never became a request, and was answered
// with a code and a message: there is no user, and of what was asked for only what could
// be read, which is empty else.
func Refused(auditor api.Auditor, method, path string, remote net.Addr, code int, message string) {
	now := time.Now()
	a := &api.Audit{
		Request: &api.Request{ID: string(uuid.NewUUID()), Method: method, Path: path, Remote: remote},
		Info:    api.Info{Verb: strings.ToLower(method), Path: path}, Stage: api.Complete, Received: now, At: now,
		Code: code, Status: reply.Failure(code, message).Body,
	}
	if a.Keep = auditor.Judge(&a.Info, nil); a.Level != api.KeepNone && !a.Omit.Has(a.Stage) {
		auditor.Audit(a)
	}
}
