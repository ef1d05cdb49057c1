//go:build !race

package server

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// A gateway that is elected again has controllers that know nothing of its term
// before: what is deleted then is collected, and a name is free whose definition
// went while another gateway led.
func TestEachTermHasControllersOfItsOwn(t *testing.T) {
	s := newStage(t) // it has led once
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	s.term(func() {
		s.want(201, "POST", definitions, named("foos"))
		s.await(definitions+"/foos.example.com", "Established")
	})
	s.want(200, "DELETE", definitions+"/foos.example.com", "")
	s.want(200, "PATCH", definitions+"/foos.example.com", `{"metadata":{"finalizers":null}}`, "application/merge-patch+json")
	s.gone(definitions + "/foos.example.com") // whoever else led saw to its objects
	s.term(func() {
		s.want(201, "POST", definitions, named("bars"))
		s.await(definitions+"/bars.example.com", "NamesAccepted")

		const maps = "/api/v1/namespaces/default/configmaps"
		var owner struct{ Metadata struct{ UID string } }
		if err := json.Unmarshal(s.want(201, "POST", maps, `{"metadata":{"name":"owner"}}`), &owner); err != nil {
			t.Fatal(err)
		}
		s.want(201, "POST", maps, `{"metadata":{"name":"owned","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+owner.Metadata.UID+`","blockOwnerDeletion":true}]}}`)
		s.want(200, "DELETE", maps+"/owner?propagationPolicy=Foreground", "")
		s.gone(maps + "/owned")
		s.gone(maps + "/owner")
	})
}

// named is a definition whose objects are called Foo.
func named(plural string) string {
	return `{"metadata":{"name":"` + plural + `.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"` + plural + `","kind":"Foo"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
}

// term leads while what happens in it does.
func (s *stage) term(while func()) {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	var leading errgroup.Group
	leading.Go(func() error { return s.lead(ctx) })
	while()
	stop()
	if err := leading.Wait(); err != nil {
		s.t.Fatal(err)
	}
}

// gone waits until an object is no more.
func (s *stage) gone(path string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); s.handler.Serve(request("GET", path, "")).Code != 404; runtime.Gosched() {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s is still there", path)
		}
	}
}
