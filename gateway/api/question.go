package api

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// Question is a subresource that is not an object: what is asked of a module, for
// example, or of a pod's node.
type Question struct {
	// Verb is how it is asked: "get", or "create" with a body.
	Verb string
	// Code is that of a reply which is no error.
	Code int
	// Answer returns an object or a text about the named object, which may not exist,
	// or a status error. The body is JSON, or protobuf as the content type says. What
	// it changes it changes as o says, which is empty when it is only read.
	Answer func(ctx context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (any, error)
}

func (h *Handler) ask(ctx context.Context, c *Call, t resource.Target, q Question) (*reply.Response, error) {
	if c.Verb != q.Verb || dialect.Bodiless(t, c.Method) {
		return nil, dialect.MethodNotAllowed(t, c.Verb)
	}
	if c.Verb != "create" {
		return q.answered(q.Answer(ctx, t, "", nil, resource.WriteOptions{}))
	}
	if _, err := c.offer(t).Negotiate(c.Accept); err != nil {
		return nil, err
	}
	o, err := c.Params.Write("CreateOptions", false)
	if err != nil {
		return nil, err
	}
	var w warnings
	o.Warn = w.add
	c.audits(&o)
	contentType, body, err := c.Sent().Question(&o)
	if err != nil {
		return nil, err
	}
	if contentType == encoding.TypeJSON {
		c.sent(body)
	}
	o.Decoded = func(object any) { c.sentInstead(func() []byte { return plain(object) }) }
	c.Caller.FieldManager = o.Caller.FieldManager
	o.Caller = c.Caller
	return w.on(q.answered(q.Answer(ctx, t, contentType, body, o)))
}

// plain is an object in JSON, nil of what JSON cannot say.
func plain(object any) []byte {
	data, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	return data
}

// answered is the reply to a question, unless that is an error.
func (q Question) answered(answer any, err error) (*reply.Response, error) {
	if err != nil {
		return nil, err
	}
	if text, ok := answer.(string); ok {
		return &reply.Response{Code: q.Code, ContentType: "text/plain; charset=utf-8", Body: []byte(text), Headers: []reply.Header{{Name: "X-Content-Type-Options", Value: "nosniff"}}}, nil
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return &reply.Response{Code: q.Code, ContentType: encoding.TypeJSON, Body: data}, nil
}
