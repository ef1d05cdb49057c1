package api

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// render finishes a reply that is in memory as JSON. Whole objects in it are of
// version, which may be nil where there are none.
func render(code int, f form, version *crd.Version, data []byte) (*reply.Response, error) {
	out, err := f.encode(version, data)
	if err != nil {
		return nil, err
	}
	return &reply.Response{Code: code, ContentType: f.media.Name(), Body: out}, nil
}

// encode puts a JSON text that is kept nowhere into the client's media type.
func (f form) encode(version *crd.Version, data []byte) ([]byte, error) {
	out, err := f.shown().Codec().Document(data, version)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return out, nil
}

// pretty tells that a person reads the reply: it was asked for, or the client
// is one that people use.
func (c *Call) pretty() bool {
	if on, said := c.Params.Pretty(); said {
		return on
	}
	for _, by := range [...]string{"curl", "Wget", "Mozilla/5.0"} {
		if strings.HasPrefix(c.UserAgent, by) {
			return true
		}
	}
	return false
}

// Render puts a reply that is ready into what the client takes: a Status into a
// form that it reads, and what is large compressed.
func (c *Call) Render(resp *reply.Response) {
	if c.Record != nil && resp.Code >= 400 {
		c.Record.Failure = resp.Body
	}
	inForm(c, resp)
	compress(c.Request, resp)
}

// inForm turns a Status into what the client asked for: in JSON, and indented,
// if it accepts nothing that a Status can be.
func inForm(c *Call, resp *reply.Response) {
	if resp.Code < http.StatusBadRequest || resp.ContentType != encoding.TypeJSON || resp.Body == nil {
		return
	}
	f, err := offer{cbor: c.cbor, messages: true}.negotiate(c.Accept)
	if err != nil {
		f = form{media: encoding.JSON, pretty: true}
	}
	f.pretty = f.pretty || c.pretty()
	if out, err := f.encode(nil, resp.Body); err == nil { // a Status is encodable, and stays JSON if not
		resp.Body, resp.ContentType = out, f.media.Name()
	}
}
