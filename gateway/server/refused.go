package server

import (
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/audit"
	"github.com/wasmgate/wasmgate/gateway/transport"
)

// refused has an auditor keep a record of what never became a request. It is nil without
// one.
func refused(auditor api.Auditor) func(transport.Refusal) {
	if auditor == nil {
		return nil
	}
	return func(r transport.Refusal) { audit.Refused(auditor, r.Method, r.Path, r.Remote, r.Code, r.Message) }
}
