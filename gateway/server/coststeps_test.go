//go:build !race

package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/bench/workload"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/storage"
)

// costStep is one kind of work that is measured. Steps are done in their order,
// and use what those before them made.
type costStep struct {
	name, note string
	// round prepares a round and returns how many operations running it does.
	round func(s *stage, round int) (n int, run func())
}

const (
	// perRound is how many operations a round of requests about one object has: one
	// about each of as many objects, which no other round of the step touches.
	perRound = 50
	// listsPerRound is how many reads of a collection a round has.
	listsPerRound = 10
)

const (
	mergePatch = "application/merge-patch+json"
	applyPatch = "application/apply-patch+yaml"
	protobuf   = "application/vnd.kubernetes.protobuf"
)

var costSteps = []costStep{
	{"create", "POST of a custom resource of 1.2 KB", requests(perRound, 201, func(i int) *api.Request {
		return request("POST", workload.Collection("v1"), string(workload.Object(i, 0)))
	})},
	{"get", "GET of one, at the version that is stored", requests(perRound, 200, func(i int) *api.Request {
		return request("GET", workload.Path("v1", i), "")
	})},
	{"first-getconv", "the first GET of one at the other version: one object converted by the module", requests(perRound, 200, func(i int) *api.Request {
		return request("GET", workload.Path("v2", i), "")
	})},
	{"getconv", "GET at the other version, whose conversion is remembered", requests(perRound, 200, func(i int) *api.Request {
		return request("GET", workload.Path("v2", i), "")
	})},
	{"list", "all 350 at the version that is stored", collection(workload.Collection("v1"))},
	{"listconv", "all 350 at the other version", collection(workload.Collection("v2"))},
	{"listchanged", "all 350 after a change of one", changing(listsPerRound, func(s *stage) {
		if r := request("GET", workload.Collection("v1"), ""); s.serve(r, io.Discard) != 200 {
			s.t.Fatal(r.Path)
		}
	})},
	{"page", "the first 5 of the 7 that a label selects", collection(workload.Collection("v1") + "?limit=5&labelSelector=app%3Dapp-7")},
	{"update", "a merge patch at the version that is stored", requests(perRound, 200, func(i int) *api.Request {
		return request("PATCH", workload.Path("v1", i), `{"spec":{"replicas":`+strconv.Itoa(i+10)+`}}`, mergePatch)
	})},
	{"updateconv", "a merge patch at the other version: two conversions", requests(perRound, 200, func(i int) *api.Request {
		return request("PATCH", workload.Path("v2", i), `{"spec":{"port":"`+strconv.Itoa(i+1000)+`"}}`, mergePatch)
	})},
	{"apply", "server-side apply of two fields that another manager has", requests(perRound, 200, applying("v"))},
	{"reapply", "server-side apply of other values of them by the same manager", requests(perRound, 200, applying("w"))},
	{"watch", "an event, from the store to one watcher", delivered("v1")},
	{"watchconv", "an event at the other version: one object converted by the module", delivered("v2")},
	{"delete", "DELETE of one", requests(perRound, 200, func(i int) *api.Request { return request("DELETE", workload.Path("v1", i), "") })},
	{"map", "POST of a ConfigMap of 1 KB", requests(perRound, 201, func(i int) *api.Request {
		return request("POST", workload.ConfigMaps, string(workload.ConfigMap(i)))
	})},
	{"getmap", "GET of a ConfigMap", requests(perRound, 200, getMap)},
	{"getmappb", "GET of a ConfigMap in protobuf", requests(perRound, 200, func(i int) *api.Request { return inProtobuf(getMap(i)) })},
	{"listmaps", "all 350 ConfigMaps", collection(workload.ConfigMaps)},
	{"listpb", "all 350 ConfigMaps in protobuf", collection(workload.ConfigMaps, inProtobuf)},
	{"listpbgz", "all 350 ConfigMaps in protobuf, compressed", collection(workload.ConfigMaps, inProtobuf, inGzip)},
	{"conversion", "one object by the module, without a request", func(s *stage, _ int) (int, func()) {
		object, convert := [][]byte{workload.Object(1, 0)}, s.converter()
		return perRound, func() {
			for range perRound {
				if _, err := convert.Convert(context.Background(), workload.Group+"/v2", object); err != nil {
					s.t.Fatal(err)
				}
			}
		}
	}},
}

// requests is a step of n requests a round, which are made before it.
func requests(n, code int, make func(i int) *api.Request) func(*stage, int) (int, func()) {
	return func(s *stage, round int) (int, func()) {
		all := []*api.Request{}
		for i := range n {
			all = append(all, make(round*n+i))
		}
		return n, func() {
			for _, r := range all {
				if got := s.serve(r, io.Discard); got != code {
					s.t.Fatalf("%s %s: %d", r.Method, r.Path, got)
				}
				rest()
			}
		}
	}
}

// rest lets the goroutines that follow the store catch up, which else take one
// change at a time or several.
func rest() {
	for range 10 {
		runtime.Gosched()
	}
}

// collection reads all objects of one again and again.
func collection(url string, change ...func(*api.Request) *api.Request) func(*stage, int) (int, func()) {
	return requests(listsPerRound, 200, func(int) *api.Request {
		r := request("GET", url, "")
		for _, f := range change {
			r = f(r)
		}
		return r
	})
}

func getMap(i int) *api.Request {
	return request("GET", fmt.Sprintf("%s/map-%d", workload.ConfigMaps, i), "")
}

func inProtobuf(r *api.Request) *api.Request {
	r.Accept = protobuf
	return r
}

func inGzip(r *api.Request) *api.Request {
	r.AcceptEncoding = "gzip"
	return r
}

// applying applies two fields of each object; tag is in their values.
func applying(tag string) func(i int) *api.Request {
	return func(i int) *api.Request {
		return request("PATCH", workload.Path("v1", i)+"?fieldManager=cost&force=true", string(workload.Configuration(i, tag)), applyPatch)
	}
}

// changing does something after each of n changes of an object, which are made in
// the store as another gateway would.
func changing(n int, then func(*stage)) func(*stage, int) (int, func()) {
	return func(s *stage, round int) (int, func()) {
		key := s.engine.Catalog().Snapshot().Resource(schema.GroupResource{Group: workload.Group, Resource: "endpoints"}).Key("default", "ep-0")
		stored, err := s.store.Get(s.t.Context(), key)
		if err != nil {
			s.t.Fatal(err)
		}
		before, after, ok := bytes.Cut(stored.Value, []byte(`"host-0`))
		if !ok {
			s.t.Fatalf("%s", stored.Value)
		}
		values := make([][]byte, n)
		for i := range values {
			values[i] = fmt.Appendf(nil, `%s"host-0%d%02d%s`, before, round, i, after)
		}
		return n, func() {
			for _, v := range values {
				stored = s.change(stored, v)
				then(s)
			}
		}
	}
}

// change writes to the store.
func (s *stage) change(stored storage.KV, value []byte) storage.KV {
	rev, err := s.store.Update(context.Background(), stored.Key, value, stored.Revision, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return storage.KV{Key: stored.Key, Value: value, Revision: rev}
}

// delivered is a change, and the event about it delivered to a watch.
func delivered(version string) func(*stage, int) (int, func()) {
	return func(s *stage, round int) (int, func()) {
		flushed := make(flushes)
		ctx, cancel := context.WithCancel(context.Background())
		resp := s.handler.Serve(request("GET", workload.Collection(version)+"?watch=1&resourceVersion="+strconv.FormatInt(s.revision(), 10), ""))
		if resp.Stream == nil {
			s.t.Fatalf("%d %s", resp.Code, resp.Body)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			resp.Stream(ctx, flushed)
		}()
		n, run := changing(perRound, func(*stage) { <-flushed })(s, round)
		return n, func() {
			defer func() {
				cancel()
				for { // a bookmark may have been flushed, too, and taken for an event
					select {
					case <-flushed:
					case <-ended:
						return
					}
				}
			}()
			run()
		}
	}
}

func (s *stage) revision() int64 {
	rev, err := s.store.Revision(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return rev
}

// flushes is a client of a stream that takes what was flushed.
type flushes chan struct{}

func (flushes) Write(p []byte) (int, error) { return len(p), nil }

func (flushes) Frame(_, _ []byte, _ string) {}

func (flushes) Hold(func() bool) {}

func (f flushes) Flush() error {
	f <- struct{}{}
	return nil
}
