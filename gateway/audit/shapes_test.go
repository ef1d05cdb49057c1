package audit

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// A policy is read from its file, which is named with what is wrong with it.
func TestPoliciesOfFiles(t *testing.T) {
	const good = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Request, verbs: [get]}, {level: None}]\n"
	path := filepath.Join(t.TempDir(), "policy.yaml")
	padded := good + strings.Repeat("#", maxPolicy-len(good))
	for text, want := range map[string]string{
		good: "", padded: "", padded + "#": path + " has more than 1048576 bytes", "kind: Odd": path + ": ",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := LoadPolicy(path)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.100s of %d bytes: %v, want %q", text, len(text), err, want)
			continue
		}
		if err != nil {
			continue
		}
		var c counts
		trail := &Trail{c: Config{Policy: p, Metrics: &c}}
		if k := trail.Judge(&api.Info{Verb: "get", Resource: true, Version: "v1", Plural: "pods"}, &authn.User{Name: "ann"}); k.Level != api.KeepRequest {
			t.Errorf("%v is kept", k.Level)
		}
		if k := trail.Judge(&api.Info{Verb: "list", Resource: true, Version: "v1", Plural: "pods"}, &authn.User{Name: "ann"}); k.Level != api.KeepNone {
			t.Errorf("%v is kept", k.Level)
		}
	}
	for _, path := range []string{path + "-none", t.TempDir()} {
		if _, err := LoadPolicy(path); err == nil {
			t.Errorf("%s is read", path)
		}
	}
}

// Lines of the legacy format are those of kube-apiserver.
func TestLegacyLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	out, err := (&File{Path: path, Format: FormatLegacy}).open()
	if err != nil {
		t.Fatal(err)
	}
	line, err := out.encode(&event{record: record("id")})
	if err != nil {
		t.Fatal(err)
	}
	if sent, err := out.send(t.Context(), [][]byte{line, line}); sent != 2 || err != nil || out.close() != nil {
		t.Error(sent, err)
	}
	text, err := os.ReadFile(path)
	const want = `2026-11-22T10:26:49.987981Z AUDIT: id="id" stage="ResponseComplete" ip="127.0.0.1" method="get" user="admin" groups="\"system:masters\",\"system:authenticated\"" as="<self>" asgroups="<lookup>" user-agent="curl/7.88.1" namespace="default" uri="/api/v1/namespaces/default/endpoints/none" response="404"`
	if lines := strings.Split(string(text), "\n"); err != nil || len(lines) != 3 || lines[0] != want || lines[1] != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
	if _, err := (&File{Path: t.TempDir()}).open(); err == nil {
		t.Error("a folder is written to")
	}
	for _, megabytes := range []int{0, 1} {
		f := &File{Path: filepath.Join(t.TempDir(), "log"), MaxMegabytes: megabytes}
		w, err := f.writer()
		if err != nil {
			t.Fatal(err)
		}
		if _, whole := w.(*os.File); whole != (megabytes == 0) || w.Close() != nil {
			t.Errorf("%d megabytes: %T", megabytes, w)
		}
	}
	if w, err := (&File{Path: "-"}).writer(); err != nil || w != (stdout{os.Stdout}) || w.Close() != nil {
		t.Error(w, err)
	}
}

// Where a request comes from is as proxies say, and as it is; what its path does not name
// the object does; a panic is told, and bodies that are too long are left out.
func TestShapesOfEvents(t *testing.T) {
	a := record("id")
	a.Request.ForwardedFor, a.Request.RealIP = "10.0.0.1, 10.0.0.2", "10.0.0.3"
	a.Info = api.Info{Resource: true, Verb: "create", Version: "v1", Plural: "pods"}
	a.Sent = []byte(`{"metadata":{"namespace":"ns","name":"n","uid":"u","resourceVersion":"7"}}`)
	a.Panic, a.Overlong = "it broke", true
	e := eventOf(a)
	if got := strings.Join(e.SourceIPs, " "); got != "10.0.0.1 10.0.0.2 10.0.0.3 127.0.0.1" {
		t.Error(got)
	}
	if r := e.ObjectRef; r.Namespace != "ns" || r.Name != "n" || r.UID != "u" || r.ResourceVersion != "7" {
		t.Errorf("%+v", r)
	}
	if s := e.ResponseStatus; s.Code != 500 || s.Status != "Failure" || s.Reason != "InternalError" || s.Message != "it broke" {
		t.Errorf("%+v", s)
	}
	if e.Annotations[truncatedKey] != "true" || len(e.Annotations) != 1+len(a.Annotations) || a.Annotations[truncatedKey] != "" || e.RequestObject != nil || e.ResponseObject != nil {
		t.Errorf("%+v", e)
	}
	a.Info.Verb = "get"
	if r := eventOf(a).ObjectRef; r.Namespace != "" || r.UID != "" {
		t.Errorf("%+v", r)
	}
	a.Request.UserAgent, a.Stage, a.Level = strings.Repeat("x", maxUserAgent), api.Received, api.KeepResponse
	a.Replied = []byte(`{"kind":"Pod","metadata":{"managedFields":[1],"name":"n"}}`)
	a.Request.Remote = &net.TCPAddr{IP: net.IPv4(10, 0, 0, 9)}
	if e = eventOf(a); len(e.UserAgent) != maxUserAgent || e.ResponseStatus != nil || string(e.ResponseObject.Raw) != string(a.Replied) || string(e.RequestObject.Raw) != string(a.Sent) {
		t.Errorf("%+v", e)
	}
	for in, want := range map[string]string{
		`{"metadata":{"managedFields":[1],"name":"n","labels":{"metadata":"x"}},"spec":{"metadata":{"managedFields":[2]}}}`: `{"metadata":{"name":"n","labels":{"metadata":"x"}},"spec":{"metadata":{"managedFields":[2]}}}`,
		`{"items":[{"metadata":{"managedFields":[1],"a":1},"items":[{"metadata":{"managedFields":1}}]},2,[3]]}`:             `{"items":[{"metadata":{"a":1},"items":[{"metadata":{"managedFields":1}}]},2,[3]]}`,
		`{"rows":[{"object":{"metadata":{"managedFields":[1]}},"metadata":{"managedFields":4}}],"items":{"a":1}}`:           `{"rows":[{"object":{"metadata":{}},"metadata":{"managedFields":4}}],"items":{"a":1}}`,
		`{"object":{"metadata":{"managedFields":[1]}},"managedFields":[1],"rows":5}`:                                        `{"object":{"metadata":{"managedFields":[1]}},"managedFields":[1],"rows":5}`,
		`[1]`: `[1]`, `7`: `7`,
	} {
		if got := withoutManaged([]byte(in)); string(got) != want {
			t.Errorf("%s becomes\n%s, want\n%s", in, got, want)
		}
	}
}

// What one write cannot take is written by the next; a long line is written by itself.
func TestLongLines(t *testing.T) {
	var out bytes.Buffer
	f := &file{out: stdout{&out}}
	events := [][]byte{bytes.Repeat([]byte("a"), most-2), []byte("b"), bytes.Repeat([]byte("c"), 1<<20+1), []byte("d")}
	if sent, err := f.send(context.Background(), events); sent != len(events) || err != nil {
		t.Error(sent, err)
	}
	if got, want := out.String(), string(bytes.Join(events, []byte("\n")))+"\n"; got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	if f.buf.Cap() > 1<<20 {
		t.Errorf("%d bytes are kept", f.buf.Cap())
	}
}
