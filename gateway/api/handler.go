package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Documents serves the paths that are not about objects: health, version,
// metrics, discovery, OpenAPI.
type Documents interface {
	// Serve answers a request, or returns nil when the path is not one of its
	// own. snapshot is what the request is answered from.
	Serve(ctx context.Context, r *Request, snapshot *catalog.Snapshot) *Response
}

// Observer is told about every request, for metrics. Its methods must be
// cheap.
type Observer interface {
	// Begin is called when a request was classified; the function it returns
	// when it was answered (for a watch: when it ended). What i names is
	// served, or i names nothing: no client can invent labels.
	Begin(i *Info, dryRun bool) (end func(code int))
	// Deprecated is called when a deprecated version was asked for, by somebody
	// who may. removedRelease is the release of Kubernetes that no longer serves
	// it, empty when that is not decided.
	Deprecated(i *Info, removedRelease string)
	// Watching is called when a watch begins; the function it returns, from one
	// goroutine, when events were sent.
	Watching(i *Info) (sent func(events int))
}

// Content keeps the bytes of a subresource that is not an object, such as
// a module's.
type Content interface {
	// Get returns the bytes of the named object that have a digest, "" for those
	// that it uses, with an Etag, or a status error. They are read by the reply's
	// Write, which a HEAD does not call.
	Get(ctx context.Context, t resource.Target, digest string) (*Response, error)
	// Put stores body for the named object and returns the object as it then
	// is, or a status error.
	Put(ctx context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (*resource.Written, error)
	// MaxBytes is the largest body that Put takes.
	MaxBytes() int
}

// Question is a subresource that is not an object: what is asked of a module, for
// example, or of a pod's node.
type Question interface {
	// Verb is how it is asked: "get", or "create" with a body.
	Verb() string
	// Answer returns the reply about the named object, which may not exist, or
	// a status error. The body is JSON, or protobuf as the content type says.
	// What it changes it changes as o says, which is empty when it is only read.
	Answer(ctx context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (*Response, error)
}

// Review answers an object of a kind that is a question, whose status it sets;
// user asks. An error is the client's.
type Review = func(ctx context.Context, user *authn.User, review map[string]any) error

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
type Serve func(ctx context.Context, c *Call) *Response

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
func (h *Handler) Serve(r *Request) *Response {
	r.cbor, r.uncompressed = h.CBOR, h.Uncompressed
	return h.first(r.context(), &Call{Request: r})
}

// maxLookups bounds how often a request that met a definition being replaced
// is started over: more often than anybody changes a definition in that time.
const maxLookups = 100

// object answers a request for objects, or hands it to the documents.
func (h *Handler) object(ctx context.Context, c *Call) *Response {
	if !c.Resource {
		return h.document(ctx, c.Request, h.Engine.Catalog().Snapshot())
	}
	if !h.ready() {
		return Unavailable()
	}
	for range maxLookups {
		resp, err := h.served(ctx, c, h.Engine.Catalog().Snapshot())
		if err == nil {
			return resp
		}
		if !errors.Is(err, catalog.ErrReplaced) {
			return ErrorResponse(err)
		}
	}
	return ErrorResponse(apierrors.NewInternalError(catalog.ErrReplaced))
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

// served answers from one snapshot of what is served.
func (h *Handler) served(ctx context.Context, c *Call, snapshot *catalog.Snapshot) (*Response, error) {
	i := &c.Info
	res, version := snapshot.Find(i.Group, i.Version, i.Plural)
	if res == nil {
		return unknownResource(snapshot, i), nil
	}
	t := resource.Target{Resource: res, Version: version, Namespace: i.Namespace, Name: i.Name, Subresource: i.Subresource}
	if !res.Def.Namespaced {
		t.Namespace = ""
	}
	if resp := misplaced(snapshot, i, t); resp != nil {
		return resp, nil
	}
	resp, err := h.verb(ctx, c, t)
	if errors.Is(err, catalog.ErrReplaced) {
		return nil, err
	}
	if err != nil {
		resp = ErrorResponse(err)
		resp.unrouted = errors.As(err, &resource.Unrouted{})
	}
	if version.Deprecated && !resp.unrouted {
		h.deprecated(c, version, resp)
	}
	return resp, nil
}

// misplaced answers requests whose path has a namespace too many, or lacks one; nil
// of all others. An empty name of a namespace is none, and lists and watches are
// about all namespaces then. kube-apiserver tells its own kinds from custom ones here.
func misplaced(snapshot *catalog.Snapshot, i *Info, t resource.Target) *Response {
	switch native := t.Version.Native(); {
	case !t.Resource.Def.Namespaced && i.scoped:
	case !t.Resource.Def.Namespaced, i.Namespace != "", i.Name == "" && (i.Verb == "list" || i.Verb == "watch"):
		return nil
	case native && i.scoped:
		return ErrorResponse(apierrors.NewBadRequest("Namespace parameter required."))
	case native && i.Name == "":
		return methodNotAllowed(t, i.Verb)
	}
	return unknownResource(snapshot, i)
}

// deprecated tells everybody who wants to know that a deprecated version was
// asked for.
func (h *Handler) deprecated(c *Call, v *crd.Version, resp *Response) {
	if v.Warning != "" {
		resp.Headers = slices.Insert(resp.Headers, 0, warningHeader(v.Warning))
	}
	h.Observer.Deprecated(&c.Info, v.RemovedRelease)
	c.Annotate("k8s.io/deprecated", "true")
	if v.RemovedRelease != "" {
		c.Annotate("k8s.io/removed-release", v.RemovedRelease)
	}
}

func (h *Handler) document(ctx context.Context, r *Request, s *catalog.Snapshot) *Response {
	for _, d := range h.Documents {
		if resp := d.Serve(ctx, r, s); resp != nil {
			return resp
		}
	}
	if r.Method == http.MethodGet {
		return notFound()
	}
	read := *r
	read.Method = http.MethodGet
	switch resp := h.document(ctx, &read, s); {
	case r.Method == http.MethodHead, resp.Code == http.StatusNotFound:
		return resp
	}
	return unrouted(http.StatusMethodNotAllowed) // there is something to read
}

// verb dispatches to the verbs.
func (h *Handler) verb(ctx context.Context, c *Call, t resource.Target) (*Response, error) {
	i := &c.Info
	if i.Subresource != "" {
		return h.subresource(ctx, c, t)
	}
	if i.old && c.Method != http.MethodGet {
		return methodNotAllowed(t, i.Verb), nil
	}
	verbs := t.Resource.Def.ServedVerbs()
	if t.Version.Native() && i.Name != "" && !slices.ContainsFunc(verbs, named) {
		return unrouted(http.StatusNotFound), nil // of what is only created there are no objects
	}
	if i.Verb == "watch" && !allowed(verbs, "watch") && allowed(verbs, "list") {
		return nil, apierrors.NewMethodNotSupported(t.GroupResource(), i.Verb) // it is a list that is asked for something else
	}
	if !allowed(verbs, i.Verb) || c.bodiless(t) {
		return methodNotAllowed(t, i.Verb), nil
	}
	if resp, err := misaddressed(i, t); resp != nil || err != nil {
		return resp, err
	}
	switch i.Verb {
	case "get":
		return h.get(ctx, c, t)
	case "list":
		return h.list(ctx, c, t)
	case "watch":
		return h.watch(ctx, c, t)
	case "create":
		t.Name = "" // it is the object that says its name
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
	return methodNotAllowed(t, i.Verb), nil
}

// misaddressed answers requests that name an object where a collection belongs,
// or none where one does. As in kube-apiserver, built-in kinds have no such
// method, and custom resources are more patient: an object may be created at
// any name.
func misaddressed(i *Info, t resource.Target) (*Response, error) {
	nameless := i.Name == "" && (i.Verb == "update" || i.Verb == "patch")
	switch {
	case t.Version.Native() && (nameless || i.Verb == "create" && i.Name != ""):
		return methodNotAllowed(t, i.Verb), nil
	case nameless:
		return nil, apierrors.NewBadRequest("name must be provided")
	case !t.Version.Native() && i.Name != "":
		if wrong := content.IsPathSegmentName(i.Name); len(wrong) > 0 {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", i.Name, strings.Join(wrong, ";")))
		}
	}
	return nil, nil
}

// bodiless tells a HEAD of a built-in kind: as in kube-apiserver, only custom
// resources have that.
func (c *Call) bodiless(t resource.Target) bool {
	return c.Method == http.MethodHead && t.Version.Native()
}

// named tells a verb that is about one object.
func named(verb string) bool {
	return verb == "get" || verb == "update" || verb == "patch" || verb == "delete"
}

func allowed(verbs []string, verb string) bool {
	for _, v := range verbs {
		if v == verb {
			return true
		}
	}
	return false
}

// subresource answers requests below an object's name.
func (h *Handler) subresource(ctx context.Context, c *Call, t resource.Target) (*Response, error) {
	i := &c.Info
	if i.old { // they were for objects only
		if t.Version.Native() {
			return unknownResource(h.Engine.Catalog().Snapshot(), i), nil
		}
		return methodNotAllowed(t, i.Verb), nil
	}
	path := ContentPath{t.Resource.GroupResource(), i.Subresource}
	if to := h.Contents[path]; to != nil && i.Name != "" && i.below == "" {
		return h.content(ctx, c, t, to)
	}
	if q := h.Questions[path]; q != nil && i.Name != "" && i.below == "" {
		return h.question(ctx, c, t, q)
	}
	if to := h.Connections[path]; to != nil && i.Name != "" && (i.below == "" || to.Passes()) {
		return h.connect(ctx, c, t, to)
	}
	s := t.Version.Subresources[i.Subresource]
	switch native := t.Version.Native(); {
	case i.Name == "" || native && (s == nil || i.below != ""):
		return unknownResource(h.Engine.Catalog().Snapshot(), i), nil
	case s == nil:
		return nil, apierrors.NewNotFound(t.GroupResource(), i.Name)
	}
	if !allowed(s.Verbs, i.Verb) || c.bodiless(t) {
		return methodNotAllowed(t, i.Verb), nil
	}
	switch i.Verb {
	case "get":
		return h.get(ctx, c, t)
	case "update":
		return h.update(ctx, c, t)
	default:
		return h.patch(ctx, c, t)
	}
}
