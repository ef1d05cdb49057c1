package documents

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/discovery/openapi"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority/ordering"
)

// whole is a description that has all that one needs.
const whole = `{"openapi":"3.0.0","info":{"title":"a","version":"v1"},"paths":{}}`

// The index of descriptions has those of other servers instead of its own of the same
// path, but for who describes nothing, and stays what it is where it is no index.
func TestDescriptionsOfOthers(t *testing.T) {
	fails := func(err error) { t.Error(err) }
	others := &discovery.Others{
		{GroupVersion: schema.GroupVersion{Group: "a.example.com", Version: "v1"}, OpenAPI: []byte(whole), OpenAPIHash: "A&B"},
		{GroupVersion: schema.GroupVersion{Group: "b.example.com", Version: "v1"}},
	}
	for body, want := range map[string]string{
		`{"paths":{"apis/a.example.com/v1":{"serverRelativeURL":"old"},"apis/b.example.com/v1":{"serverRelativeURL":"old"},"apis/c":{"serverRelativeURL":"c"}}}`: `{"paths":{"apis/a.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/a.example.com/v1?hash=A%26B"},"apis/c":{"serverRelativeURL":"c"}}}`,
		`{}`:   `{}`,
		`none`: `none`,
	} {
		if got := string(indexed(describe(others, nil, fails), []byte(body))); got != want {
			t.Errorf("%s becomes\n%s, want\n%s", body, got, want)
		}
	}
	all := describe(others, nil, fails)
	open := openapi.New(nil, nil, openapi.Options{Order: func(string, []string) []string { return nil }, Report: fails})
	for accept, want := range map[string]string{"": "application/json", "*/*": "application/json", protobuf: protobuf, protobuf + ", application/json": protobuf, "text/html": ""} {
		body, contentType, etag, ok := lookup(open, all, "/openapi/v3/apis/a.example.com/v1", accept)
		if !ok || contentType != want || want != "" && (etag != `"A&B"` || body.Length() == 0) || want == "application/json" && string(body.Joined()) != whole {
			t.Errorf("as %s: %q, %s, %s, %t", accept, body.Joined(), contentType, etag, ok)
		}
	}
	for _, path := range []string{"/openapi/v3/apis/b.example.com/v1", "/openapi/v3/apis/c"} {
		if _, _, _, ok := lookup(open, all, path, ""); ok {
			t.Errorf("%s is described", path)
		}
	}
	again := describe(others, all, fails)
	(*others)[0].OpenAPIHash = "C"
	const a = "/openapi/v3/apis/a.example.com/v1"
	if changed := describe(others, all, fails); again[a] != all[a] || changed[a] == all[a] {
		t.Error("what is the same is described anew, or what is not is not")
	}
}

const protobuf = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"

// What cannot be had as protobuf is reported, and ends nothing.
func TestDescriptionsOfOthersThatAreNone(t *testing.T) {
	for _, doc := range []string{`[]`, `{"paths":{"/a":7}}`, `{"components":{"schemas":{"a":{"type":{}}}}}`} {
		reported := 0
		all := describe(&discovery.Others{{GroupVersion: schema.GroupVersion{Group: "a", Version: "v1"}, OpenAPI: []byte(doc), OpenAPIHash: "A"}}, nil, func(error) { reported++ })
		for range 2 {
			if body, _, _ := all["/openapi/v3/apis/a/v1"].Lookup(protobuf); body.Length() != 0 || reported != 1 {
				t.Errorf("%s: %d bytes, reported %d times", doc, body.Length(), reported)
			}
		}
	}
}

// Who has the higher priority is first to give names in version 2.
func TestTheOrderOfOthers(t *testing.T) {
	var others discovery.Others
	var want []*openapi.Foreign
	for i, at := range []struct {
		group, version string
		first, second  int32
		silent         bool
	}{{"c", "v1", 2000, 1, false}, {"a", "v2", 1000, 20, false}, {"a", "v1", 0, 10, false}, {"a", "v3", 0, 5, true}, {"b", "v1", 1000, 1, false}, {"b", "v2", 1000, 1, false}} {
		o := discovery.Other{GroupVersion: schema.GroupVersion{Group: at.group, Version: at.version}, Priority: discovery.Priority{Group: at.first, Version: at.second}}
		if !at.silent {
			var err error
			if o.V2, err = openapi.ReadForeign([]byte(`{"swagger":"2.0"}`), o.GroupVersion); err != nil {
				t.Fatal(i, err)
			}
			want = append(want, o.V2)
		}
		others = slices.Insert(others, 0, o)
	}
	if got := foreign(others); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What other servers serve is described as it is now, also when nothing else changes.
func TestDocumentsFollowWhatOthersServe(t *testing.T) {
	var others *discovery.Others
	ready := make(chan struct{})
	close(ready)
	order := &ordering.Orders{}
	d := &derived{ready: ready, orders: func() discovery.Order { return order }, others: func() *discovery.Others { return others }, report: func(err error) { t.Error(err) }}
	s := &catalog.Snapshot{Serial: 1}
	const path = "/openapi/v3/apis/a.example.com/v1"
	other := func(hash string) *discovery.Others {
		return &discovery.Others{{GroupVersion: schema.GroupVersion{Group: "a.example.com", Version: "v1"}, OpenAPI: []byte(whole), OpenAPIHash: hash}}
	}
	for _, step := range []struct {
		others *discovery.Others
		hash   string
	}{{&discovery.Others{}, ""}, {other("A"), "A"}, {other("B"), "B"}, {&discovery.Others{}, ""}} {
		others = step.others
		disco, open, given := d.of(s)
		if (given[path] == nil) != (step.hash == "") || given[path] != nil && given[path].Hash() != step.hash {
			t.Errorf("described with %v, want %q", given[path], step.hash)
		}
		if again, same, _ := d.of(s); again != disco || same != open {
			t.Error("made again without a change")
		}
	}
	d.others = nil
	if _, _, given := d.of(s); len(given) != 0 {
		t.Errorf("without others: %v", given)
	}
}
