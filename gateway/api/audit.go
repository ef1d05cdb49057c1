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

// audit begins the record of a request.
func (h *Handler) audit(c *call) {
	if h.Auditor != nil {
		c.record = &Audit{Received: time.Now()}
	}
}

// known notes who sent the request, for the log and for an auditor.
func (c *call) known(u *authn.User) {
	c.caller.User = u
	if c.record != nil {
		c.record.User = u
	}
}

// impersonates notes who the sender wants to be.
func (c *call) impersonates(u *authn.User) {
	if c.record != nil {
		c.record.Impersonated = u
	}
}

// decided notes what the authorizer said.
func (c *call) decided(allowed bool, reason string) {
	decision := "forbid"
	if allowed {
		decision = "allow"
	}
	c.annotate("authorization.k8s.io/decision", decision)
	c.annotate("authorization.k8s.io/reason", reason)
}

// annotate adds to the record.
func (c *call) annotate(key, value string) {
	if c.record == nil {
		return
	}
	if c.record.Annotations == nil {
		c.record.Annotations = map[string]string{}
	}
	c.record.Annotations[key] = value
}

// audited is end, and hands over the record of a request whose reply is resp.
func (h *Handler) audited(c *call, resp *Response, end func(code int)) func(code int) {
	a := c.record
	if a == nil {
		return end
	}
	if resp.Code >= 400 {
		a.Failure = resp.Body
	}
	asked := *c.Request
	asked.Body, asked.ReadBody, asked.Authorization, asked.ClientCerts = nil, nil, "", nil
	a.Request, a.Info = &asked, c.Info
	told := func(code int, begun bool) {
		one := *a
		one.Code, one.Begun, one.Answered = code, begun, time.Now()
		h.Auditor.Audit(&one)
	}
	if resp.Stream != nil {
		told(resp.Code, true)
	}
	return func(code int) {
		end(code)
		told(code, false)
	}
}
