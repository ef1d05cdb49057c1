package api

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/gateway/api/form"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// Auditor keeps records of requests.
type Auditor interface {
	// Judge says what is kept of a request. It is asked once, when it is known who
	// asks; nil is somebody unknown.
	Judge(i *Info, by *authn.User) Keep
	// Audit is called at each stage of a request that is to be kept. What it is given
	// belongs to it, but for the bytes in it, which are shared. It tells whether the
	// request may go on.
	Audit(a *Audit) bool
}

// Keep is what is kept of a request.
type Keep struct {
	Level Level
	// Omit are the stages that are not.
	Omit Stages
	// Unmanaged: bodies are kept without metadata.managedFields.
	Unmanaged bool
	// ByPolicy: the stages are those that kube-apiserver's requests have. Else the
	// only ones are the start of a watch, and the end.
	ByPolicy bool
}

// Audit is what there is to know of a request at one stage of it.
type Audit struct {
	Keep
	Stage Stage
	// Request has no body any more, and no credentials.
	Request *Request
	Info    Info
	// User is who sent it, nil when that is not known, and Impersonated who that
	// one wants to be, nil for nobody else.
	User, Impersonated *authn.User
	// Constraint is the verb of the mode in which that is allowed (KEP-5284), "" for
	// impersonation that nothing constrains.
	Constraint string
	// At is when the stage was reached.
	Received, At time.Time
	// Code is the HTTP status, 0 before there is one; Status is the body of a reply
	// that is a Status, in JSON.
	Code   int
	Status []byte
	// Panic is what a panic said.
	Panic string
	// Sent is the body of the request as JSON, of an object or what a patch is. It is
	// there at every level, as it says what the object is, and nil where there is none.
	Sent []byte
	// Replied is the body of the reply as JSON, where the level asks for it. Overlong:
	// there is one, and it is too long to be kept.
	Replied  []byte
	Overlong bool
	// Annotations say what else is noteworthy.
	Annotations map[string]string

	// judged: Keep is known.
	judged bool
}

// Judged notes what is kept of the record's request.
func (a *Audit) Judged(k Keep) { a.Keep, a.judged = k, true }

// IsJudged reports whether it is known what is kept.
func (a *Audit) IsJudged() bool { return a.judged }

// Annotate adds to the record, if there is one. What is said first stands.
func (c *Call) Annotate(key, value string) {
	if c.Record == nil {
		return
	}
	if c.Record.Annotations == nil {
		c.Record.Annotations = map[string]string{}
	}
	if _, said := c.Record.Annotations[key]; !said {
		c.Record.Annotations[key] = value
	}
}

// convertedBy notes who converts what is read or written at another version than that
// which is stored.
func (c *Call) convertedBy(by conversion.By) {
	if by == (conversion.By{}) {
		return
	}
	if text, err := json.Marshal(by); err == nil {
		c.Annotate("conversion.wasmgate.dev/by", string(text))
	}
}

// audits has a write tell what is noteworthy of it, if that is kept.
func (c *Call) audits(o *resource.WriteOptions) {
	o.Waiting = c
	if c.Record != nil {
		o.Annotate, o.AnnotatesBodies = c.Annotate, c.Record.Level >= KeepRequest
	}
}

// sent notes what the client sent, an object in JSON.
func (c *Call) sent(data []byte) {
	if c.Record != nil {
		c.Record.Sent = data
	}
}

// sentInstead notes what the client sent, which is no object: what of returns, if that
// is kept.
func (c *Call) sentInstead(of func() []byte) {
	if c.Record != nil && c.Record.Level >= KeepRequest {
		c.Record.Sent = of()
	}
}

// keepsReply reports whether the body of the reply is kept.
func (c *Call) keepsReply() bool {
	return c.Record != nil && c.Record.Level == KeepResponse
}

// replied notes what the client gets, as JSON, if that is kept.
func (c *Call) replied(data []byte) {
	switch {
	case !c.keepsReply():
	case len(data) > mostReplied:
		c.Record.Overlong = true
	default:
		c.Record.Replied = data
	}
}

// mostReplied is how long the bodies of replies are that are kept, in bytes: one of so
// many objects as etcd holds is more.
const mostReplied = 16 << 20

// repliedAs notes what the client gets, if that is kept: what render makes of a form of
// JSON.
func (c *Call) repliedAs(f form.Form, render func(f form.Form) (*reply.Response, error)) {
	if !c.keepsReply() {
		return
	}
	resp, err := render(f.Plain())
	if err != nil {
		return // as the reply does, which says so
	}
	body := resp.Body
	if resp.Write != nil && resp.Length > mostReplied {
		c.Record.Overlong = true
		return
	}
	var all bytes.Buffer
	switch {
	case resp.Write != nil:
		err = resp.Write(&all)
		body = all.Bytes()
	case resp.Reader != nil:
		_, err = io.Copy(&all, io.LimitReader(resp.Reader, mostReplied+1))
		body = all.Bytes()
	}
	if err == nil {
		c.replied(body)
	}
}

// noteReply notes of a reply that is ready what it says, if that is JSON.
func (c *Call) noteReply(resp *reply.Response) {
	if c.Record == nil || resp.ContentType != encoding.TypeJSON || len(resp.Body) == 0 {
		return
	}
	if bytes.HasPrefix(resp.Body, statusHead) {
		c.Record.Status = resp.Body
	}
	if c.Record.Replied == nil && !c.Record.Overlong && c.Resource {
		c.replied(resp.Body)
	}
}

// statusHead begins every Status that the gateway makes.
var statusHead = []byte(`{"kind":"Status",`)
