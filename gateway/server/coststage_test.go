//go:build !race

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/server/identity"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/bench/workload"
	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// inMemory is a store in memory that one gateway serves.
type inMemory struct{ *storagetest.Memory }

func (inMemory) Healthy(context.Context) error { return nil }

func (inMemory) Size(context.Context) (int64, error) { return 1 << 20, nil }

func (inMemory) Lead(ctx context.Context, _ string, run func(context.Context)) error {
	run(ctx)
	return ctx.Err()
}

func (inMemory) RunCompactor(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

// stage is a gateway, as [Run] puts it together, over a store in memory: what
// etcd's client allocates differs from run to run. Its controllers made what the
// steps need, and have ended; requests go to its handler.
type stage struct {
	t testing.TB
	*gateway
	store inMemory
}

const stageToken = "cost"

// newStage makes a stage on one processor, as pools are one for each, and work
// that is divided is divided by them.
func newStage(t testing.TB) *stage {
	t.Helper()
	procs := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(procs) })
	dir := t.TempDir()
	o := servingIn(dir)
	o.TokenAuthFile = write(t, filepath.Join(dir, "tokens.csv"), stageToken+",cost,cost,system:masters\n")
	s := &stage{t: t, store: inMemory{storagetest.NewMemory()}}
	s.gateway = newGateway(o, zerolog.Nop())
	s.gateway.url, s.gateway.name, s.gateway.store = identity.URL(o, &net.TCPAddr{}), nameAt(&net.TCPAddr{}), s.store
	t.Cleanup(func() {
		if err := s.close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := openData(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	engine, ctx := errgroup.WithContext(t.Context())
	engine.Go(func() error { return ended(ctx, s.engine.Run(ctx)) })
	t.Cleanup(func() {
		if err := engine.Wait(); err != nil {
			t.Error(err)
		}
	})
	s.prepare()
	return s
}

// converter is that of the definition, as the kinds make it.
func (s *stage) converter() conversion.Converter {
	s.t.Helper()
	defined := s.engine.Catalog().Snapshot().Resource(schema.ParseGroupResource(workload.Definition))
	for _, k := range s.kinds {
		if k.Convert == nil {
			continue
		}
		c, err := k.Convert(defined.Def)
		if err != nil {
			s.t.Fatal(err)
		}
		return c
	}
	s.t.Fatal("no kind converts")
	return nil
}

// prepare lets controllers establish the definition and load its module.
func (s *stage) prepare() {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	controllers, ctx := errgroup.WithContext(ctx)
	started, err := s.start(ctx, controllers)
	if err != nil || started == nil {
		s.t.Fatalf("the gateway did not start: %v", err)
	}
	const modules = "/apis/wasmgate.dev/v1/wasmmodules"
	s.want(201, "POST", modules, `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"bench"},"spec":{"source":{"upload":{}}}}`)
	module := plugintest.Build(s.t, "github.com/wasmgate/wasmgate/bench/module")
	s.want(200, "PUT", modules+"/bench/content", string(module), "application/wasm")
	s.await(modules+"/bench", "Ready")
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	s.want(201, "POST", definitions, string(workload.CRD(`{"url":"wasm://bench"}`)))
	s.await(definitions+"/"+workload.Definition, "Established")
	s.want(201, "POST", "/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+workload.ConfigMapNamespace+`"}}`)
	s.want(200, "PATCH", definitions+"/"+workload.Definition, `{"metadata":{"labels":{"established":"seen"}}}`, "application/merge-patch+json")
	stop()
	if err := controllers.Wait(); err != nil {
		s.t.Fatal(err)
	}
}

// await waits until a condition of an object is true.
func (s *stage) await(path, condition string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		var o struct {
			Status struct {
				Conditions []struct{ Type, Status, Message string }
			}
		}
		text := s.want(200, "GET", path, "")
		if err := json.Unmarshal(text, &o); err != nil {
			s.t.Fatal(err)
		}
		for _, c := range o.Status.Conditions {
			if c.Type == condition && c.Status == "True" {
				return
			}
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s is not %s: %s", path, condition, text)
		}
	}
}

// request is one of the administrator; contentType is JSON if none is given.
func request(method, url, body string, contentType ...string) *api.Request {
	path, query, _ := strings.Cut(url, "?")
	r := &api.Request{Method: method, Path: path, Query: query, Authorization: "Bearer " + stageToken, Accept: "application/json", UserAgent: "cost", ID: "cost"}
	if body != "" {
		r.ContentType = "application/json"
		r.ReadBody = func(int) ([]byte, error) { return []byte(body), nil }
	}
	if len(contentType) > 0 {
		r.ContentType = contentType[0]
	}
	return r
}

// want is the body of the reply to a request, whose code it checks.
func (s *stage) want(code int, method, url, body string, contentType ...string) []byte {
	s.t.Helper()
	var b bytes.Buffer
	if got := s.serve(request(method, url, body, contentType...), &b); got != code {
		s.t.Fatalf("%s %s: %d %.500s", method, url, got, b.Bytes())
	}
	return b.Bytes()
}

// serve answers a request and returns the code of the reply, whose body goes to w.
func (s *stage) serve(r *api.Request, w io.Writer) int {
	return s.write(r, s.handler.Serve(r), w)
}

// write sends a reply to w, and returns its code.
func (s *stage) write(r *api.Request, resp *reply.Response, w io.Writer) int {
	var err error
	switch {
	case resp.Write != nil:
		err = resp.Write(w)
	case resp.Reader != nil:
		_, err = io.Copy(w, resp.Reader)
	default:
		_, err = w.Write(resp.Body)
	}
	if err != nil {
		s.t.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	return resp.Code
}
