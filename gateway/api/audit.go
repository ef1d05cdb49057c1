package api

import (
	"time"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

// Auditor keeps a record of every request.
type Auditor interface {
	// Audit is called once for each request, when it was answered, and for a watch
	// when it began, too. It must not block. What it is given belongs to it, but
	// for what Failure holds, which is shared.
	Audit(a *Audit)
}

// Audit is what there is to know of a request that was answered.
type Audit struct {
	// Request has no body any more, and no credentials.
	Request *Request
	Info    Info
	// User is who sent it, nil when that is not known, and Impersonated who that
	// one wants to be, nil for nobody else.
	User, Impersonated *authn.User
	Received, Answered time.Time
	// Begun: it is a watch that has begun, and goes on.
	Begun bool
	// Code is the HTTP status; Failure is the body of a refusal, a Status in JSON.
	Code    int
	Failure []byte
	// Annotations say what else is noteworthy.
	Annotations map[string]string
}

// Annotate adds to the record, if there is one.
func (c *Call) Annotate(key, value string) {
	if c.Record == nil {
		return
	}
	if c.Record.Annotations == nil {
		c.Record.Annotations = map[string]string{}
	}
	c.Record.Annotations[key] = value
}
