package api

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

const asCBOR = "Accept: " + encoding.TypeCBOR

func gateOn(c *Setup) { c.CBOR = true }

// cborSerializer is Kubernetes' own.
var cborSerializer = cbor.NewSerializer(runtime.NewScheme(), runtime.NewScheme())

func inCBOR(t testing.TB, data string) string {
	t.Helper()
	u := &unstructured.Unstructured{}
	var out bytes.Buffer
	err := json.Unmarshal([]byte(data), &u.Object)
	if err == nil {
		err = cborSerializer.Encode(u, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// uncbored is a body in CBOR as JSON, read as Kubernetes' clients read it.
func (r *answer) uncbored() string {
	r.t.Helper()
	if r.ContentType != encoding.TypeCBOR || !strings.HasPrefix(r.body, "\xd9\xd9\xf7") {
		r.t.Fatalf("%d %s %.300q", r.Code, r.ContentType, r.body)
	}
	var tree any
	if err := direct.Unmarshal([]byte(r.body), &tree); err != nil {
		r.t.Fatal(err)
	}
	out, err := json.Marshal(tree)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(out)
}

func sameJSON(t testing.TB, what, got, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s is\n%s\nnot\n%s", what, got, want)
	}
}

func TestCBORInAndOut_MT11_MT13(t *testing.T) {
	w := newWorld(t, gateOn)
	object := a("one", `"size":1`)
	r := w.do("POST", widgets, inCBOR(t, object), "Content-Type: application/cbor", asCBOR).want(201, "")
	sameJSON(t, "created", r.uncbored(), w.do("GET", widgets+"/one", "").body)
	secret := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"k":"AP8="}}`
	w.do("POST", "/api/v1/namespaces/default/secrets", inCBOR(t, secret), "Content-Type: application/cbor").want(201, `"k":"AP8="`)
	r = w.do("GET", "/api/v1/namespaces/default/secrets/s", "", asCBOR).want(200, "")
	var s corev1.Secret
	if err := direct.Unmarshal([]byte(r.body), &s); err != nil || string(s.Data["k"]) != "\x00\xff" {
		t.Errorf("%v %v", s, err)
	}
	for _, path := range []string{widgets, widgets + "/one", "/api/v1/namespaces/default/secrets", widgets + "/none", widgets + "?limit=1"} {
		for _, part := range []string{"", partMeta, partMeta + "List"} {
			if strings.HasSuffix(path, "e") == strings.HasSuffix(part, "List") && part != "" {
				continue
			}
			plain := w.do("GET", path, "", "Accept: application/json"+part)
			if r := w.do("GET", path, "", asCBOR+part, "Accept-Encoding: gzip"); r.Code != plain.Code {
				t.Errorf("%s %s: %d, not %d", path, part, r.Code, plain.Code)
			} else if r.ContentType == encoding.TypeCBOR {
				sameJSON(t, path+part, r.uncbored(), plain.body)
			} else if part == "" {
				t.Errorf("%s is %s", path, r.ContentType)
			}
		}
	}
	w.do("GET", widgets, "", asCBOR+";g=meta.k8s.io;v=v1;as=Table").want(406, "")
	w.do("PUT", widgets+"/one", inCBOR(t, strings.Replace(w.do("GET", widgets+"/one", "").body, `"size":1`, `"size":2`, 1)), "Content-Type: application/cbor").want(200, `"size":2`)
	apply := inCBOR(t, a("one", `"size":3`))
	w.do("PATCH", widgets+"/one?fieldManager=m&force=true", apply, "Content-Type: application/apply-patch+cbor").want(200, `"size":3`)
	w.do("PATCH", widgets+"/one?fieldManager=m", "x", "Content-Type: application/apply-patch+cbor").want(400, "error decoding CBOR: ")
	for _, media := range []string{"application/merge-patch+cbor", "application/json-patch+cbor", "application/strategic-merge-patch+cbor", "application/cbor"} {
		w.do("PATCH", widgets+"/one", apply, "Content-Type: "+media).want(415, "")
	}
	for _, body := range []string{"x", "\xf6", "\xf7", "\xa1", "\xd9\xd9\xf7", "\x80", strings.Repeat("\x81", 200), "\xa1\x41a\xfb\x7f\xf0\x00\x00\x00\x00\x00\x00"} {
		w.do("POST", widgets, body, "Content-Type: application/cbor").want(400, "")
	}
	w.do("DELETE", widgets+"/one", inCBOR(t, `{"apiVersion":"v1","kind":"DeleteOptions","dryRun":["All"]}`), "Content-Type: application/cbor").want(200, "")
	w.do("GET", widgets+"/one", "").want(200, "")
	w.do("POST", widgets, "x", "Content-Type: text/csv").want(415, "application/vnd.kubernetes.protobuf, application/cbor")
	w.do("GET", widgets, "", "Accept: text/html").want(406, "application/vnd.kubernetes.protobuf, application/cbor")
	w.do("GET", widgets+"?watch=1", "", "Accept: application/yaml").want(406, "application/cbor-seq")
}

func TestCBORIsOffByDefault_MT10(t *testing.T) {
	w := newWorld(t)
	w.do("GET", widgets, "", asCBOR).want(406, "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf")
	w.do("GET", widgets+"?watch=1", "", asCBOR).want(406, "")
	w.do("POST", widgets, inCBOR(t, a("one", "")), "Content-Type: application/cbor").want(415, "application/vnd.kubernetes.protobuf\"")
	w.do("PATCH", widgets+"/one?fieldManager=m", inCBOR(t, a("one", "")), "Content-Type: application/apply-patch+cbor").want(415, "")
	w.do("DELETE", widgets+"/one", inCBOR(t, "{}"), "Content-Type: application/cbor").want(415, "")
}

// A watch in CBOR is one item an event, in Kubernetes' own form.
func TestWatchInCBOR_MT12(t *testing.T) {
	w := newWorld(t, gateOn)
	w.do("POST", widgets, a("one", `"size":1`)).want(201, "")
	resp := w.Serve(request("GET", widgets+"?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", "", asCBOR))
	if resp.Stream == nil || resp.ContentType != "application/cbor-seq" {
		t.Fatalf("%d %s", resp.Code, resp.ContentType)
	}
	ctx, cancel := context.WithCancel(t.Context())
	g, done := &gathered{flush: make(chan struct{}, 1)}, make(chan struct{})
	go func() { defer close(done); resp.Stream(ctx, g) }()
	t.Cleanup(func() { cancel(); <-done })
	next := func() (string, map[string]any) {
		for deadline := time.After(patience); ; {
			g.mu.Lock()
			data := bytes.Clone(g.buf.Bytes())
			g.mu.Unlock()
			if len(data) > 0 {
				frame := make([]byte, len(data))
				n, err := cbor.NewFramer().NewFrameReader(readCloser{bytes.NewReader(data)}).Read(frame)
				var e metav1.WatchEvent
				if err == nil {
					err = direct.Unmarshal(frame[:n], &e)
				}
				var object map[string]any
				if err == nil {
					err = direct.Unmarshal(e.Object.Raw, &object)
				}
				if err != nil {
					t.Fatalf("%v: %q", err, data)
				}
				g.mu.Lock()
				g.buf.Next(len("\xd9\xd9\xf7") + n) // which the reader leaves out
				g.mu.Unlock()
				return e.Type, object
			}
			select {
			case <-g.flush:
			case <-deadline:
				t.Fatal("no event came")
			}
		}
	}
	kind, object := next()
	got, _ := json.Marshal(object)
	if kind != "ADDED" {
		t.Error(kind)
	}
	sameJSON(t, "the event", string(got), w.do("GET", widgets+"/one", "").body)
	if kind, object = next(); kind != "BOOKMARK" || object["kind"] != "Widget" {
		t.Errorf("%s %v", kind, object)
	}
	w.do("DELETE", widgets+"/one", "").want(200, "")
	if kind, object = next(); kind != "DELETED" || object["kind"] != "Widget" {
		t.Errorf("%s %v", kind, object)
	}
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// Nothing that anybody sends ends the process or becomes JSON that is none.
func FuzzFromCBOR_MT11(f *testing.F) {
	f.Add([]byte(inCBOR(f, a("one", `"size":1,"f":1.5,"l":[true,null]`))))
	f.Add([]byte("\xa1\x41a\xfb\x7f\xf0\x00\x00\x00\x00\x00\x00"))
	f.Add(bytes.Repeat([]byte("\x81"), 100))
	f.Add([]byte("\xa1\x42\xff0\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := encoding.FromCBOR(data)
		if err != nil {
			return
		}
		again, err := encoding.CBOR.Codec().Document(out, nil)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		back, err := encoding.FromCBOR(again)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		sameJSON(t, "what came back", string(back), string(out)) // what is no text is escaped once
	})
}
