package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Observer is told about every request, for metrics. Its methods must be
// cheap.
type Observer interface {
	// Begin is called when a request was classified; the function it returns
	// when it was answered (for a watch: when it ended). What i names is
	// served, or i names nothing: no client can invent labels.
	Begin(i *Info, dryRun bool) (end func(Outcome))
	// Deprecated is called when a deprecated version was asked for, by somebody
	// who may. removedRelease is the release of Kubernetes that no longer serves
	// it, empty when that is not decided.
	Deprecated(i *Info, removedRelease string)
	// Versioned is called when objects were asked for, by somebody who may, of a kind
	// that people define and that has several versions.
	Versioned(i *Info, by resource.Caller)
	// Watching is called when a watch begins; the function it returns, from one
	// goroutine, when events were sent.
	Watching(i *Info) (sent func(events int))
	// Listed is called when a watch has sent what there was, and said so.
	Listed(i *Info, took time.Duration)
}

// Outcome is what became of a request.
type Outcome struct {
	// Code is the HTTP status.
	Code int
	// Outside is how long it waited for a seat and for webhooks.
	Outside time.Duration
	// Received and Sent are the bytes of its body, and of the reply's: -1 where these are not
	// known when it begins.
	Received, Sent int
	// Terminated: it was broken off, as its time was over or there was no room for it.
	Terminated bool
}

// Config is what a [Handler] needs. All fields are required but Reviews and
// BookmarkInterval.
type Config struct {
	Routes
	Authorizer authz.Authorizer
	Documents  []Documents
	Observer   Observer
	Reviews    map[schema.GroupResource]Review
	// CBOR lets requests and replies be CBOR.
	CBOR bool
	// Uncompressed: replies are never compressed, whatever clients take.
	Uncompressed bool
	// UnsafeDeletion lets those who may delete objects that cannot be read.
	UnsafeDeletion bool
	// NoWatchLists refuses watches that are to begin with what exists.
	NoWatchLists bool
	// RequestTimeout ends every request but watches.
	RequestTimeout time.Duration
	// MinWatchTimeout is the least time a watch without timeoutSeconds lives;
	// the most is twice that.
	MinWatchTimeout time.Duration
	// BookmarkInterval is how often a watch that allows bookmarks gets one;
	// 0 means a minute.
	BookmarkInterval time.Duration
}

// Serve answers a request. The context ends with the client, or when no answer is
// worth anything any more.
type Serve func(ctx context.Context, c *Call) *reply.Response

// Filter is a step that every request takes: made once, of the steps after it,
// which it may take, or answer itself.
type Filter func(next Serve) Serve

// Handler answers requests.
type Handler struct {
	Config
	first Serve
}

// New makes a handler whose requests pass filters, in their order.
func New(c Config, filters []Filter) *Handler {
	h := &Handler{Config: c}
	h.first = h.object
	for _, f := range slices.Backward(filters) {
		h.first = f(h.first)
	}
	return h
}

// Serve answers a request: each filter in its turn, and at last the verb.
func (h *Handler) Serve(r *Request) *reply.Response {
	r.cbor, r.uncompressed = h.CBOR, h.Uncompressed
	return h.first(r.context(), &Call{Request: r})
}

// maxLookups bounds how often a request that met a definition being replaced
// is started over: more often than anybody changes a definition in that time.
const maxLookups = 100

// object answers a request for objects, or hands it to the documents.
func (h *Handler) object(ctx context.Context, c *Call) *reply.Response {
	if c.remote != nil {
		return c.remote.Serve(ctx, c)
	}
	if !c.Resource {
		return h.described(ctx, c)
	}
	if !h.ready() {
		return reply.Unavailable()
	}
	for range maxLookups {
		resp, err := h.served(ctx, c, h.find(c))
		if errors.Is(err, catalog.ErrReplaced) {
			continue
		}
		if err != nil {
			return reply.Error(err)
		}
		if !h.doubtful(c, resp) {
			return resp
		}
		resource, version := c.resource, c.version
		if err := h.Engine.AllInForce(ctx); err != nil {
			return reply.Error(err)
		}
		if h.find(c); c.resource == resource && c.version == version {
			return resp
		}
	}
	return reply.Error(apierrors.NewInternalError(catalog.ErrReplaced))
}

// doubtful tells that a request was refused by what is served here, before anything
// was found out that makes sure of it: another gateway may have changed the definition.
func (h *Handler) doubtful(c *Call, resp *reply.Response) bool {
	if c.resource != nil && c.resource.Replaced() == nil {
		return false
	}
	switch resp.Code {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnsupportedMediaType:
		return true
	case http.StatusNotFound:
		return c.Verb != "get" || !c.Served() || c.resource.Def.Namespaced != (c.Namespace != "")
	}
	return false
}

// ready tells whether all that is stored is served.
func (h *Handler) ready() bool {
	select {
	case <-h.Engine.Ready():
		return true
	default:
		return false
	}
}

// served answers from one snapshot of what is served, in which the request was found.
func (h *Handler) served(ctx context.Context, c *Call, snapshot *catalog.Snapshot) (*reply.Response, error) {
	i := &c.Info
	if c.resource == nil {
		return reply.Error(dialect.NoResource(snapshot, i.Group)), nil
	}
	t := resource.Target{Resource: c.resource, Version: c.version, Namespace: i.Namespace, Name: i.Name, Subresource: i.Subresource}
	if !t.Resource.Def.Namespaced {
		t.Namespace = ""
	}
	if err := dialect.Misplaced(snapshot, t, i.Verb, i.scoped); err != nil {
		return reply.Error(err), nil
	}
	resp, err := h.verb(ctx, c, t, snapshot)
	if errors.Is(err, catalog.ErrReplaced) {
		return nil, err
	}
	if c.Record != nil && t.Version.Name != t.Resource.Def.StorageVersion {
		c.convertedBy(t.Resource.ConvertedBy())
	}
	if t.Resource.Replaced() != nil && len(t.Resource.Def.Versions) > 1 {
		h.Observer.Versioned(i, c.Caller)
	}
	if err != nil {
		resp = reply.Error(err)
	}
	if t.Version.Deprecated && dialect.Versioned(err) {
		deprecated(h.Observer, c, resp)
	}
	return resp, nil
}

// verb dispatches to the verbs.
func (h *Handler) verb(ctx context.Context, c *Call, t resource.Target, snapshot *catalog.Snapshot) (*reply.Response, error) {
	if c.old {
		if err := dialect.Watched(t, c.Verb, c.Method); err != nil {
			return nil, err
		}
	}
	if t.Subresource != "" {
		return h.subresource(ctx, c, t, snapshot)
	}
	if err := dialect.Unserved(t, c.Verb, c.Method, t.Resource.Def.ServedVerbs()); err != nil {
		return nil, err
	}
	switch c.Verb {
	case "get":
		return h.get(ctx, c, t)
	case "list":
		return h.list(ctx, c, t)
	case "watch":
		return h.watch(ctx, c, t)
	case "create":
		t.Name = "" // it is the object that says its name
		if c.question != nil {
			return h.ask(ctx, c, t, *c.question)
		}
		return h.create(ctx, c, t)
	case "update":
		return h.update(ctx, c, t)
	case "patch":
		return h.patch(ctx, c, t)
	case "delete":
		return h.delete(ctx, c, t)
	case "deletecollection":
		return h.deleteCollection(ctx, c, t)
	}
	return nil, dialect.MethodNotAllowed(t, c.Verb)
}

// subresource answers requests below an object's name.
func (h *Handler) subresource(ctx context.Context, c *Call, t resource.Target, snapshot *catalog.Snapshot) (*reply.Response, error) {
	switch {
	case t.Name == "":
	case c.content != nil && c.below == "":
		return h.keep(ctx, c, t, c.content)
	case c.question != nil && c.below == "":
		return h.ask(ctx, c, t, *c.question)
	case c.connection != nil && (c.below == "" || c.connection.Passes()):
		return h.connect(ctx, c, t, c.connection)
	}
	s := t.Version.Subresources[t.Subresource]
	if err := dialect.UnservedBelow(snapshot, t, s, c.Verb, c.Method, c.below); err != nil {
		return nil, err
	}
	switch c.Verb {
	case "get":
		return h.get(ctx, c, t)
	case "update":
		return h.update(ctx, c, t)
	default:
		return h.patch(ctx, c, t)
	}
}
