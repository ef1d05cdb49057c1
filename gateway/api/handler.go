package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/deadline"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds"
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

// ContentPath names a subresource that is not an object.
type ContentPath struct {
	schema.GroupResource
	Subresource string
}

// Config is what a [Handler] needs. All fields are required but Contents,
// Questions, Connections, Reviews, Auditor, Bounds and BookmarkInterval.
type Config struct {
	Engine        *resource.Engine
	Authenticator authn.Authenticator
	Authorizer    authz.Authorizer
	Documents     []Documents
	Observer      Observer
	Contents      map[ContentPath]Content
	Questions     map[ContentPath]Question
	Connections   map[ContentPath]Connection
	Reviews       map[schema.GroupResource]Review
	// Auditor is told of every request; nil for nobody.
	Auditor Auditor
	Log     zerolog.Logger
	// CBOR lets requests and replies be CBOR.
	CBOR bool
	// Uncompressed: replies are never compressed, whatever clients take.
	Uncompressed bool
	// UnsafeDeletion lets those who may delete objects that cannot be read.
	UnsafeDeletion bool
	// NoWatchLists refuses watches that are to begin with what exists.
	NoWatchLists bool
	// Bounds is how much may be under way at a time; nil for anything.
	Bounds *bounds.Bounds
	// MaxBodyBytes is the largest request body, except for Contents.
	MaxBodyBytes int
	// RequestTimeout ends every request but watches.
	RequestTimeout time.Duration
	// MinWatchTimeout is the least time a watch without timeoutSeconds lives;
	// the most is twice that.
	MinWatchTimeout time.Duration
	// BookmarkInterval is how often a watch that allows bookmarks gets one;
	// 0 means a minute.
	BookmarkInterval time.Duration
}

// Handler answers requests.
type Handler struct{ Config }

// New makes a handler.
func New(c Config) *Handler { return &Handler{c} }

// Serve is the whole life of a request, in this order: recover from panics,
// classify, count, bound the time, authenticate, authorize, bound what it takes,
// read the body, answer.
func (h *Handler) Serve(r *Request) (resp *Response) {
	r.ID, r.cbor, r.uncompressed = requestID(r.ID), h.CBOR, h.Uncompressed
	end := func(int) {}
	c := &call{Request: r}
	handedOver := false
	defer func() {
		if !handedOver {
			c.stay.Leave()
		}
	}()
	defer func() {
		if p := recover(); p != nil {
			h.Log.Error().Interface("panic", p).Str("path", r.Path).Str("request", r.ID).Bytes("stack", debug.Stack()).Msg("request failed")
			resp = errorResponse(apierrors.NewInternalError(errPanic))
		}
		end = h.audited(c, resp, end)
		inForm(r, resp)
		compress(r, resp)
		resp.Headers = append(resp.Headers, Header{auditHeader, r.ID})
		if resp.Stream == nil {
			end(resp.Code)
			return
		}
		stream, code := resp.Stream, resp.Code
		resp.Stream = func(ctx context.Context, w FrameWriter) { // its panics are the transport's business
			defer end(code)
			defer c.stay.Leave()
			stream(ctx, w)
		}
		handedOver = true
	}()
	h.audit(c)
	c.params = parseParams(r.Query)
	c.Info = parseInfo(r.Method, r.Path, c.params.watch())
	end = h.logged(c, h.observe(c))
	streams := c.Resource && c.Verb == "watch"
	timeout, err := c.params.timeout(h.RequestTimeout)
	if err != nil && !streams && !h.connects(&c.Info) { // those last as long as they last
		return errorResponse(err)
	}
	user, err := h.allow(c)
	if err != nil {
		return barred(err)
	}
	c.caller = resource.Caller{User: user, UserAgent: r.UserAgent, RequestID: r.ID}
	if err := h.enter(c); err != nil {
		return errorResponse(err)
	}
	if err := h.readBody(c); err != nil {
		return errorResponse(err)
	}
	if streams {
		return h.object(r.context(), c)
	}
	ctx, cancel := deadline.WithTimeout(r.context(), timeout)
	defer cancel()
	return h.object(ctx, c)
}

// methods are those of HTTP.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions, http.MethodTrace, http.MethodConnect,
}

// observe begins the count of a request.
func (h *Handler) observe(c *call) func(code int) {
	shown := c.Info
	if !h.serves(&shown) {
		shown = Info{Verb: c.Verb}
	}
	if !c.Resource && !slices.Contains(methods, c.Method) { // clients may invent them
		shown.Verb = "other"
	}
	return h.Observer.Begin(&shown, strings.Contains(c.Query, "dryRun=All"))
}

// serves tells whether what i names exists.
func (h *Handler) serves(i *Info) bool {
	r, v := h.Engine.Catalog().Snapshot().Find(i.Group, i.Version, i.Plural)
	if r == nil || i.Subresource == "" {
		return r != nil
	}
	path := ContentPath{r.GroupResource(), i.Subresource}
	return v.Subresources[i.Subresource] != nil || h.Contents[path] != nil || h.Questions[path] != nil || h.Connections[path] != nil
}

// allow authenticates and authorizes, and returns who it is.
func (h *Handler) allow(c *call) (*authn.User, error) {
	r, i := c.Request, &c.Info
	open := !i.Resource && authz.Open(i.Verb, i.Path)
	shown := authn.Request{BearerToken: BearerToken(r.Authorization), ClientCerts: r.ClientCerts}
	user, ok, err := h.Authenticator.Authenticate(shown)
	if err != nil {
		h.Log.Debug().Err(err).Msg("credentials refused")
	}
	if !ok {
		if !open || !shown.Empty() { // who shows what is wrong is told so, even where nothing is needed
			return nil, authz.UnauthorizedError()
		}
		user = authn.AnonymousUser()
	}
	c.known(user)
	if r.Impersonate != nil {
		if user, err = h.impersonate(user, r.Impersonate, i); err != nil {
			return nil, err
		}
		c.impersonates(user)
	}
	a := attributes(user, i)
	allowed, reason, err := h.Authorizer.Authorize(context.Background(), a)
	c.decided(allowed && err == nil, reason)
	return user, refused(a, allowed, reason, err)
}

// attributes are the question whether a user may do what a request asks for.
func attributes(u *authn.User, i *Info) authz.Attributes {
	return authz.Attributes{
		User: u, Verb: i.Verb, Group: i.Group, Version: i.Version, Resource: i.Plural, Subresource: i.Subresource,
		Namespace: i.Namespace, Name: i.Name, Path: i.Path, ResourceRequest: i.Resource,
	}
}

func (h *Handler) authorize(a authz.Attributes) error {
	allowed, reason, err := h.Authorizer.Authorize(context.Background(), a)
	return refused(a, allowed, reason, err)
}

// refused is what a client is told of an authorizer's answer; nil of a yes.
func refused(a authz.Attributes, allowed bool, reason string, err error) error {
	switch {
	case err != nil:
		return apierrors.NewInternalError(err)
	case !allowed:
		return authz.ForbiddenError(a, reason)
	}
	return nil
}

// maxLookups bounds how often a request that met a definition being replaced
// is started over: more often than anybody changes a definition in that time.
const maxLookups = 100

// object answers a request for objects, or hands it to the documents.
func (h *Handler) object(ctx context.Context, c *call) *Response {
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
			return errorResponse(err)
		}
	}
	return errorResponse(apierrors.NewInternalError(catalog.ErrReplaced))
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
func (h *Handler) served(ctx context.Context, c *call, snapshot *catalog.Snapshot) (*Response, error) {
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
		resp = errorResponse(err)
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
		return errorResponse(apierrors.NewBadRequest("Namespace parameter required."))
	case native && i.Name == "":
		return methodNotAllowed(t, i.Verb)
	}
	return unknownResource(snapshot, i)
}

// deprecated tells everybody who wants to know that a deprecated version was
// asked for.
func (h *Handler) deprecated(c *call, v *crd.Version, resp *Response) {
	if v.Warning != "" {
		resp.Headers = slices.Insert(resp.Headers, 0, warningHeader(v.Warning))
	}
	h.Observer.Deprecated(&c.Info, v.RemovedRelease)
	c.annotate("k8s.io/deprecated", "true")
	if v.RemovedRelease != "" {
		c.annotate("k8s.io/removed-release", v.RemovedRelease)
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
func (h *Handler) verb(ctx context.Context, c *call, t resource.Target) (*Response, error) {
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
func (c *call) bodiless(t resource.Target) bool {
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
func (h *Handler) subresource(ctx context.Context, c *call, t resource.Target) (*Response, error) {
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
