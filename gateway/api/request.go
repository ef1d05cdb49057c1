package api

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api/body"
	"github.com/wasmgate/wasmgate/gateway/api/form"
	"github.com/wasmgate/wasmgate/gateway/api/query"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/bounds"
	"github.com/wasmgate/wasmgate/gateway/bounds/flow"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Request is one HTTP request as a value. Nothing in it refers to memory of
// the HTTP framework.
type Request struct {
	// Context ends when the client has left, though it may be noticed late; nil
	// never ends.
	Context context.Context
	Method  string
	// Path is the decoded path, Query the raw query without the question mark.
	Path  string
	Query string
	// Body is the whole body, once it was read; the handler may keep it.
	Body []byte
	// ReadBody reads a body of at most limit bytes from the connection, once;
	// nil when there is none. Its errors are status errors.
	ReadBody func(limit int) ([]byte, error)
	// BodyLength is how many bytes the head says that the body has, -1 where it does not say.
	BodyLength int
	// OpenBody is for who passes a large body on as it comes, instead of ReadBody; nil
	// for small ones. Length is -1 where it is not known. Errors, of reading too, are
	// status errors.
	OpenBody func(limit int) (body io.ReadCloser, length int64, err error)

	Accept string
	// AcceptEncoding is how replies may be compressed.
	AcceptEncoding string
	ContentType    string
	Authorization  string
	UserAgent      string
	// ID names the request, in logs and in the Audit-Id header of its reply.
	ID          string
	IfNoneMatch string
	// Remote is where the connection comes from; nil when that is not known.
	Remote net.Addr
	// ForwardedFor and RealIP are where proxies say that the request comes from.
	ForwardedFor, RealIP string
	// ClientCerts is the chain that the client proved to own, leaf first.
	ClientCerts []*x509.Certificate
	// Head is what else is in the head of the request, for as long as it is being
	// answered.
	Head Head
	// Connection is what the request came on, as it is counted; nil where that is not done.
	Connection *bounds.Connection
	// Impersonate is who the client wants to be; nil for itself.
	Impersonate *Impersonation
	// Upgrade: the client wants another protocol on its connection.
	Upgrade bool
	// Undecoded: Path is as it was sent, as an escape in it stands for a slash. Who reads
	// it elsewhere may take that for a border between segments.
	Undecoded bool
	// Memory is where documents have that of large replies from; nil for any.
	Memory Memory

	// cbor: CBOR is accepted and produced.
	cbor bool
	// uncompressed: replies are never compressed.
	uncompressed bool
}

// SocketBearer begins the one of a WebSocket's protocols that is its client's token, in
// base64url.
const SocketBearer = "base64url.bearer.authorization.k8s.io."

// Head is the head of a request.
type Head interface {
	// Header makes a copy of all headers.
	Header() http.Header
}

// context ends with the client.
func (r *Request) context() context.Context {
	if r.Context == nil {
		return context.Background()
	}
	return r.Context
}

// Sent is its body.
func (r *Request) Sent() body.Body {
	return body.Body{ContentType: r.ContentType, Data: r.Body, CBOR: r.cbor}
}

// Call is a request that is being answered: what it is about, who asks, and what
// the filters found out.
type Call struct {
	*Request
	Info
	// Params are its parameters.
	Params query.Parameters
	// User is whose permissions count.
	User *authn.User
	// Caller is who asks; the user alone until the request was authorized.
	Caller resource.Caller
	// Timeout is how long it may take, but for a watch.
	Timeout time.Duration
	// Record is what an auditor is told; nil when there is none.
	Record *Audit
	// Stay is what the request takes of what there is for all.
	Stay bounds.Stay
	// Seat is what flow control gave it.
	Seat flow.Seat
	// Watching is a watch that flow control knows of.
	Watching flow.Watching

	// Coming is a body that is passed on as it comes, in place of Body, and Length how
	// many bytes it has, -1 where that is not known.
	Coming io.ReadCloser
	Length int64

	remote Remote
	route
	// outside is how long others had it wait, in nanoseconds.
	outside atomic.Int64
	refused bool
	// warned are warnings that come with whatever the reply is.
	warned []string
	// weight is what Lists found out, once it was asked.
	weight  int64
	weighed bool
}

// Waited notes that the request waited for what is not the gateway's own work.
func (c *Call) Waited(d time.Duration) { c.outside.Add(int64(d)) }

// Refuse notes that there was no room for the request.
func (c *Call) Refuse() { c.refused = true }

// Refused tells that there was none.
func (c *Call) Refused() bool { return c.refused }

// Room implements [resource.Room].
func (c *Call) Room(ctx context.Context, n int) error {
	if n <= LargeReply {
		return nil
	}
	return c.take(ctx, n)
}

// take takes memory until the reply was sent: n bytes, with what was taken for it before.
func (c *Call) take(ctx context.Context, n int) error {
	if err := c.Stay.Reply(ctx, n); err != nil {
		c.Refuse()
		return apierrors.NewTooManyRequests(err.Error(), reply.RetryAfter)
	}
	return nil
}

// Reviews reports whether the request is a question that is answered and not stored.
func (c *Call) Reviews() bool {
	return c.resource != nil && c.Verb == "create" && c.Subresource == "" && c.resource.Def.Question()
}

// Outside is how long it waited so.
func (c *Call) Outside() time.Duration { return time.Duration(c.outside.Load()) }

// Classify finds out what the request is about, by its path and in what is served.
func (c *Call) Classify(by *Routes) {
	c.Params = query.Parse(c.Query)
	c.Info = parseInfo(c.Method, c.Request.Path, c.Params.Watch())
	if c.Info.Verb == "list" || c.Info.Verb == "watch" {
		c.Info.Selected = c.Params.SelectedName()
	}
	if c.Info.narrows() {
		c.Info.selectors.Fields, c.Info.selectors.Labels = c.Params.Selectors()
	}
	if by.Elsewhere != nil && c.Version != "" {
		c.remote = by.Elsewhere.Find(c.Group, c.Version)
	}
	by.find(c)
}

// Streams reports whether the request is a watch, which lasts as long as it lasts.
func (c *Call) Streams() bool { return c.Resource && c.Verb == "watch" }

// Lasts reports whether the request is one of those to which kube-apiserver gives no time,
// whoever answers: a watch, or a conversation or what follows something.
func (c *Call) Lasts() bool {
	if !c.Resource {
		return false
	}
	switch c.Subresource {
	case "attach", "exec", "proxy", "log", "portforward":
		return true
	}
	return c.Verb == "watch"
}

// Untimed reports whether the request lasts as long as it lasts. What is answered here at
// once, because there is nobody to talk to, has a time all the same.
func (c *Call) Untimed() bool { return c.Streams() || c.PassedOn() && c.Lasts() }

// offer is what the request, about t, can be answered with.
func (c *Call) offer(t resource.Target) form.Offer {
	return form.OfferOf(t, c.cbor, c.Name == "" && (c.Verb == "list" || c.Verb == "watch"))
}

// asked is the form that the client wants of t, and its parameters.
func (c *Call) asked(t resource.Target) (form.Form, url.Values, error) {
	f, err := c.offer(t).Negotiate(c.Accept)
	if err != nil {
		return f, nil, err
	}
	v, err := c.Params.Values()
	return f.For(c.pretty(), !c.uncompressed && form.Gzip(c.AcceptEncoding)), v, err
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
	c.noteReply(resp)
	if resp.Code >= http.StatusBadRequest {
		form.Status(resp, c.Accept, c.cbor, c.pretty())
	}
	if !c.uncompressed {
		form.Compress(resp, c.AcceptEncoding)
	}
}

// Impersonation is an identity that a client asks to be given.
type Impersonation struct {
	User, UID string
	Groups    []string
	// Extra has keys in lower case.
	Extra map[string][]string
}
