package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// patience bounds every wait in these tests; nothing comes near it.
const patience = time.Minute

// widget is a custom resource with two versions, of which the older one is
// deprecated, and everything that requests can be about.
const widget = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com, uid: uid-crd}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    deprecationWarning: widgets of v1beta1 are old
    schema: &schema {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {size: {type: integer}, replicas: {type: integer}}},
      status: {type: object, properties: {replicas: {type: integer}}}}}}
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema: *schema
status:
  acceptedNames: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  storedVersions: [v1]
  conditions: [{type: Established, status: "True"}]
`

const widgets = "/apis/example.com/v1/namespaces/default/widgets"

// world is a handler over an engine, with the built-in kinds and widgets.
type world struct {
	*Handler
	t        testing.TB
	store    *asks
	observed *observed
	uploads  *uploads
	setup    Setup
	// asked is who decides what users may do.
	asked *deciding
	// converter is between the versions of widgets.
	converter *converter
}

// converter changes nothing but apiVersion, until it breaks.
type converter struct {
	conversion.Converter
	broken atomic.Bool
}

func (c *converter) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	if c.broken.Load() {
		return nil, errors.New("the converter is broken")
	}
	return c.Converter.Convert(ctx, desired, objects)
}

func newWorld(t testing.TB, change ...func(*Setup)) *world {
	t.Helper()
	return worldOf(t, false, change...)
}

// worldOf is newWorld, whose lists of the past are read from the store where noPast says so.
func worldOf(t testing.TB, noPast bool, change ...func(*Setup)) *world {
	t.Helper()
	w := &world{t: t, store: &asks{Memory: storagetest.NewMemory()}, observed: &observed{}, uploads: &uploads{}, asked: &deciding{ordinary{}}, converter: &converter{Converter: conversion.None{}}}
	for i := range 3 { // so that there are revisions from before the engine's time
		rev, err := w.store.Create(t.Context(), "/elsewhere/"+string(rune('a'+i)), nil, 0)
		if err == nil {
			err = w.store.Compact(t.Context(), rev)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	engine := engine.New(engine.Options{Store: w.store, NoPast: noPast, Catalog: catalog.New(catalog.Options{
		Store: w.store, Prefix: "/registry/", Builtins: catalogtest.Builtins(t), Compile: catalogtest.Compile,
		Convert: func(*crd.Definition) (conversion.Converter, error) { return w.converter, nil },
	})})
	tokens := authn.NewTokens()
	for token, user := range map[string]authn.User{"admin": {Name: "admin", Groups: []string{authn.Masters}}, "bob": {Name: "bob"}} {
		if err := tokens.Add(token, user); err != nil {
			t.Fatal(err)
		}
	}
	c := Setup{Authenticator: tokens, Log: zerolog.Nop(), MaxBodyBytes: 1 << 10}
	c.Config = Config{
		Authorizer: w.asked, Observer: w.observed, Documents: []Documents{hello{}}, RequestTimeout: patience, MinWatchTimeout: patience,
	}
	c.Routes = Routes{
		Engine:   engine,
		Contents: map[ContentPath]Content{{schema.GroupResource{Group: "example.com", Resource: "widgets"}, "content"}: w.uploads},
		Questions: map[ContentPath]Question{
			{schema.GroupResource{Group: "example.com", Resource: "widgets"}, "question"}: {Verb: "create", Code: 200, Answer: question("create").answer},
			{schema.GroupResource{Group: "example.com", Resource: "widgets"}, "log"}:      {Verb: "get", Code: 200, Answer: question("get").answer},
		},
		Connections: map[ContentPath]Connection{
			{schema.GroupResource{Group: "example.com", Resource: "widgets"}, "shell"}: connection(false),
			{schema.GroupResource{Group: "example.com", Resource: "widgets"}, "proxy"}: connection(true),
		},
	}
	for _, f := range change {
		f(&c)
	}
	w.setup, w.Handler = c, NewHandler(c)
	catalogtest.Run(t, engine)
	w.do("POST", "/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}`).want(201, "")
	w.define(widget)
	return w
}

// question is asked by the verb of its name.
type question string

func (q question) answer(_ context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (any, error) {
	if t.Name == "none" {
		return nil, apierrors.NewNotFound(t.Resource.GroupResource(), t.Name)
	}
	text := string(q) + " " + t.Name + " " + contentType + " " + string(body)
	if o.DryRun {
		text += " dry run of " + o.Caller.User.Name + " as " + o.Caller.FieldManager
	}
	return text, nil
}

// connection passes requests on, or not.
type connection bool

func (c connection) Passes() bool { return bool(c) }

func (c connection) Connect(_ context.Context, t resource.Target, path string, query url.Values, o resource.WriteOptions) (any, error) {
	o.Warn("connected")
	if t.Name == "none" {
		return nil, apierrors.NewNotFound(t.Resource.GroupResource(), t.Name)
	}
	return fmt.Sprintf("%s to %s at %q with %q by %s", t.Subresource, t.Name, path, query.Encode(), o.Caller.User.Name), nil
}

// define stores a definition as its controller leaves it, and waits until it
// is served.
func (w *world) define(text string) {
	w.t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	gr := schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	rev, err := w.store.Create(ctx, w.Engine.Catalog().Snapshot().Resource(gr).Key("", "widgets.example.com"), data, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.Engine.Catalog().WaitApplied(ctx, rev); err != nil {
		w.t.Fatal(err)
	}
}

// hello is a document that says hello.
type hello struct{}

func (hello) Serve(_ context.Context, r *Request, _ *catalog.Snapshot) *reply.Response {
	switch r.Path {
	case "/hello", "/version":
		return &reply.Response{Code: 200, ContentType: "text/plain", Body: []byte("hello " + r.Query)}
	case "/panic":
		panic("in a document")
	}
	return nil
}

// observed remembers what was counted.
type observed struct {
	lists      atomic.Int64 // watches that have told what there was
	mu         sync.Mutex
	begun      []Info
	dry        []bool
	ended      []int
	sent       int      // events of watches
	deprecated []string // the versions that were, with the release without them
}

func (o *observed) Deprecated(i *Info, removedRelease string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deprecated = append(o.deprecated, i.Group+"/"+i.Version+"/"+i.Plural+"/"+i.Subresource+" "+removedRelease)
}

func (o *observed) Versioned(*Info, resource.Caller) {}
func (o *observed) Listed(*Info, time.Duration)      { o.lists.Add(1) }
func (o *observed) Watching(*Info) func(int) {
	return func(n int) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.sent += n
	}
}

func (o *observed) Begin(i *Info, dryRun bool) func(Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun, o.dry = append(o.begun, *i), append(o.dry, dryRun)
	return func(of Outcome) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.ended = append(o.ended, of.Code)
	}
}

// last is what was counted of the last request.
func (o *observed) last() (i Info, dryRun bool, codes int, code int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.begun[len(o.begun)-1], o.dry[len(o.dry)-1], len(o.ended), o.ended[len(o.ended)-1]
}

// uploads takes content, up to 16 bytes.
type uploads struct {
	got string
	// replaced is how many more times the definition is found replaced.
	replaced int
}

func (u *uploads) Put(_ context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (*resource.Written, error) {
	if u.replaced--; u.replaced >= 0 {
		return nil, catalog.ErrReplaced
	}
	u.got = t.Name + " " + contentType + " " + string(body) + " " + o.Caller.FieldManager
	return &resource.Written{Object: []byte(`{"kind":"Widget"}`)}, nil
}

func (u *uploads) Get(_ context.Context, t resource.Target, digest string) (*resource.Content, error) {
	text := "bytes of " + t.Name + " " + digest
	return &resource.Content{ContentType: "application/wasm", Digest: t.Name, Size: len(text), Write: func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}}, nil
}

func (u *uploads) MaxBytes() int { return 16 }

// request is one to be sent by the administrator; headers are "Name: value".
func request(method, url, body string, headers ...string) *Request {
	path, query, _ := strings.Cut(url, "?")
	r := &Request{Method: method, Path: path, Query: query, Authorization: "Bearer admin"}
	if body != "" {
		r.ContentType = encoding.TypeJSON
		r.ReadBody = func(limit int) ([]byte, error) {
			if len(body) > limit {
				return nil, errTooLarge
			}
			return []byte(body), nil
		}
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch name {
		case "Accept":
			r.Accept = value
		case "Accept-Encoding":
			r.AcceptEncoding = value
		case "User-Agent":
			r.UserAgent = value
		case "Content-Type":
			r.ContentType = value
		case "Authorization":
			r.Authorization = value
		default:
			panic(name)
		}
	}
	return r
}

var errTooLarge = errors.New("more than there may be")

// answer is a reply whose body was collected.
type answer struct {
	t testing.TB
	*reply.Response
	body string
}

func (w *world) do(method, url, body string, headers ...string) *answer {
	w.t.Helper()
	return w.serve(request(method, url, body, headers...))
}

func (w *world) serve(r *Request) *answer {
	w.t.Helper()
	resp := w.Serve(r)
	out := &answer{t: w.t, Response: resp, body: string(resp.Body)}
	defer sent(resp)
	if b := new(bytes.Buffer); resp.Write != nil {
		if err := resp.Write(b); err != nil || b.Len() != resp.Length || resp.Body != nil {
			w.t.Errorf("%s %s: wrote %d of %d bytes: %v", r.Method, r.Path, b.Len(), resp.Length, err)
		}
		out.body = b.String()
	}
	if resp.Reader != nil {
		b, err := io.ReadAll(resp.Reader)
		if err != nil || resp.Body != nil || resp.Write != nil {
			w.t.Errorf("%s %s: read %d bytes: %v", r.Method, r.Path, len(b), err)
		}
		out.body = string(b)
	}
	return out
}

// want checks the code and a part of the body.
func (r *answer) want(code int, part string) *answer {
	r.t.Helper()
	if r.Code != code || !strings.Contains(r.body, part) {
		r.t.Errorf("%d %.500s, want %d %s", r.Code, r.body, code, part)
	}
	return r
}

// without checks that a part is not in the body.
func (r *answer) without(part string) *answer {
	r.t.Helper()
	if strings.Contains(r.body, part) {
		r.t.Errorf("%s in %.500s", part, r.body)
	}
	return r
}

// header is the value of the first header called name.
func (r *answer) header(name string) string {
	for _, h := range r.Headers {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

// version is the resourceVersion of the object in the reply.
func (r *answer) version() string {
	r.t.Helper()
	meta, _ := r.tree()["metadata"].(map[string]any)
	version, _ := meta["resourceVersion"].(string)
	return version
}

// frames is a client of a stream. Each flush waits until the client takes it.
type frames struct {
	buf   bytes.Buffer
	out   chan string // one event each; closed at the end
	gone  chan struct{}
	taken chan struct{} // if not nil, a flush waits for it
}

func (f *frames) Write(p []byte) (int, error) { return f.buf.Write(p) }

func (f *frames) Flush() error {
	if f.taken != nil {
		select {
		case <-f.taken:
		case <-f.gone:
		}
	}
	for line := range strings.Lines(f.buf.String()) {
		select {
		case f.out <- strings.TrimSuffix(line, "\n"):
		case <-f.gone:
			return errors.New("the client left")
		}
	}
	f.buf.Reset()
	select {
	case <-f.gone:
		return errors.New("the client left")
	default:
		return nil
	}
}

// watching is a watch under way.
type watching struct {
	t *testing.T
	*frames
	end   func() // by the server
	ended chan struct{}
}

// watch begins a watch. slow, if not nil, is waited for before each flush.
func (w *world) watch(t *testing.T, url string, slow chan struct{}, headers ...string) *watching {
	t.Helper()
	resp := w.Serve(request("GET", url, "", headers...))
	if resp.Stream == nil {
		t.Fatalf("no stream: %d %s", resp.Code, resp.Body)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &watching{t: t, frames: &frames{out: make(chan string, 1000), gone: make(chan struct{}), taken: slow}, end: cancel, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		defer close(f.out)
		resp.Stream(ctx, f.frames)
		_ = f.Flush() // the transport does so
	}()
	leave := sync.OnceFunc(func() { close(f.gone) })
	t.Cleanup(func() { leave(); cancel(); <-f.ended })
	return f
}

// event is a frame, parsed.
type event struct {
	Type   string
	Object struct {
		Kind, APIVersion string
		Code             int
		Metadata         map[string]any
		Spec             map[string]any
		Rows             []struct{ Cells []any }
		Columns          []any `json:"columnDefinitions"`
	}
	raw string
}

func (e event) name() string { s, _ := e.Object.Metadata["name"].(string); return s }

func (e event) version() string { s, _ := e.Object.Metadata["resourceVersion"].(string); return s }

// next is the next event; ok is false when the stream has ended.
func (f *watching) next() (e event, ok bool) {
	f.t.Helper()
	select {
	case line, more := <-f.out:
		if !more {
			return e, false
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			f.t.Fatalf("%v: %s", err, line)
		}
		e.raw = line
		return e, true
	case <-time.After(patience):
		f.t.Fatal("no event came")
		return e, false
	}
}

// want is the next event, which has to be of a type and about a name.
func (f *watching) want(kind, name string) event {
	f.t.Helper()
	e, ok := f.next()
	if !ok || e.Type != kind || e.name() != name {
		f.t.Fatalf("%s, want %s %s", e.raw, kind, name)
	}
	return e
}
