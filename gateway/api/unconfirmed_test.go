package api

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/wasmgate/wasmgate/storage"
)

// forgetful is a writer that does what it is asked, and then does not say so if its store
// forgets.
type forgetful struct {
	storage.GuardedWriter
	of *asks
}

func (w forgetful) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	return w.of.said(w.GuardedWriter.Create(ctx, key, value, ttl))
}

func (w forgetful) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	return w.of.said(w.GuardedWriter.Update(ctx, key, value, rev, ttl))
}

func (w forgetful) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	return w.of.said(w.GuardedWriter.Delete(ctx, key, rev))
}

func (a *asks) said(rev int64, err error) (int64, error) {
	if err == nil && a.forgets.Load() {
		return 0, &storage.Error{Kind: storage.Unavailable, Cause: context.DeadlineExceeded}
	}
	return rev, err
}

func (a *asks) While(key string, rev int64) storage.GuardedWriter {
	return forgetful{a.Memory.While(key, rev), a}
}

// Clients send again by themselves what is answered with Retry-After. A write that may have
// been done is not: it would be done twice.
func TestWritesThatMayBeDoneAreNotSentAgain(t *testing.T) {
	w := newWorld(t)
	version := w.do("POST", widgets, a("put", "")).want(201, "").version()
	for _, name := range []string{"patched", "deleted"} {
		w.do("POST", widgets, a(name, "")).want(201, "")
	}
	w.store.forgets.Store(true)
	for _, c := range []struct{ method, url, body, contentType string }{
		{"POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generateName":"made-"}}`, "application/json"},
		{"PUT", widgets + "/put", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"put","resourceVersion":"` + version + `"},"spec":{"size":1}}`, "application/json"},
		{"PATCH", widgets + "/patched", `[{"op":"add","path":"/spec/size","value":1}]`, "application/json-patch+json"},
		{"DELETE", widgets + "/deleted", "", ""},
	} {
		r := w.do(c.method, c.url, c.body, "Content-Type: "+c.contentType).want(500, "the store did not confirm the write").without("retryAfterSeconds")
		if after := r.header("Retry-After"); after != "" {
			t.Errorf("%s is sent again after %s seconds", c.method, after)
		}
	}
	w.store.forgets.Store(false)
	w.do("GET", widgets, "").want(200, `"name":"made-`).without(`"deleted"`)
	for _, name := range []string{"put", "patched"} {
		w.do("GET", widgets+"/"+name, "").want(200, `"size":1`)
	}
}

// RoundTrip has clients ask without a network.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	got := w.do(r.Method, r.URL.RequestURI(), string(body), "Content-Type: "+r.Header.Get("Content-Type"))
	out := &http.Response{StatusCode: got.Code, Header: http.Header{"Content-Type": {got.ContentType}}, Body: io.NopCloser(strings.NewReader(got.body)), Request: r}
	for _, h := range got.Headers {
		out.Header.Add(h.Name, h.Value)
	}
	return out, nil
}

// Who creates by client-go what has no name yet makes one object, not one for each time that
// it might be sent.
func TestClientGoMakesOneObject(t *testing.T) {
	w := newWorld(t)
	client, err := dynamic.NewForConfigAndClient(&rest.Config{Host: "http://gateway"}, &http.Client{Transport: w})
	if err != nil {
		t.Fatal(err)
	}
	made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"generateName": "made-"}}}
	all := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Namespace("default")
	w.store.forgets.Store(true)
	if _, err := all.Create(t.Context(), made, metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "the store did not confirm the write") {
		t.Error(err)
	}
	w.store.forgets.Store(false)
	list, err := all.List(t.Context(), metav1.ListOptions{})
	if err != nil || meta.LenList(list) != 1 {
		t.Errorf("%v objects, %v", list, err)
	}
}
