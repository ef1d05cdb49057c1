package api

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wasmgate/wasmgate/gateway/bounds"
	"github.com/wasmgate/wasmgate/gateway/bounds/memory"
)

// The reply to a list takes memory until it is sent, or is not; who finds none is told to
// come again, and what else is asked for is answered.
func TestListsTakeMemory(t *testing.T) {
	m := memory.New(1 << 20) // 384 kB for lists
	w := newWorld(t, within(bounds.New(bounds.Limits{Lists: m.For(memory.Lists), Watching: m.For(memory.Watches)})))
	w.do("POST", widgets, a("one", `"size":1`)).want(201, "")
	taken := func() int64 {
		used, _, _ := m.Uses()
		return used[memory.Lists] + used[memory.Watches]
	}
	for _, accept := range []string{"Accept: application/json", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io", "Accept: application/yaml"} {
		resp := w.Serve(request("GET", widgets, "", accept))
		if resp.Code != 200 {
			t.Fatalf("%s: %d", accept, resp.Code)
		}
		if resp.Write != nil {
			if taken() == 0 {
				t.Errorf("%s: nothing is taken", accept)
			}
			if err := resp.Write(io.Discard); err != nil {
				t.Error(err)
			}
			resp.Done()
		}
		if n := taken(); n != 0 {
			t.Errorf("%s: %d bytes are taken by nobody", accept, n)
		}
	}
	all := m.For(memory.Lists)
	if !all.Take(350 << 10) {
		t.Fatal("there is nothing")
	}
	served := make(chan int)
	go func() {
		resp := w.Serve(request("GET", widgets, ""))
		if resp.Done != nil {
			resp.Done()
		}
		served <- resp.Code
	}()
	w.do("GET", widgets+"/one", "").want(200, "")
	if !m.For(memory.Watches).Take(380 << 10) {
		t.Fatal("there is nothing for watches")
	}
	w.do("GET", widgets+"?watch=1", "").want(429, "memory")
	all.Give(350 << 10)
	if code := <-served; code != 200 {
		t.Errorf("a list that can wait: %d", code)
	}
	m.For(memory.Watches).Give(380 << 10)
	if n := taken(); n != 0 {
		t.Errorf("%d bytes are taken by nobody", n)
	}
}

// A large object in a form that it is not kept in takes memory until it is sent; as it is
// kept it takes none, nor does a small one.
func TestLargeRepliesTakeMemory(t *testing.T) {
	const most = 384 << 10
	m := memory.New(1 << 20)
	w := newWorld(t, within(bounds.New(bounds.Limits{Lists: m.For(memory.Lists)})), func(c *Setup) { c.MaxBodyBytes = 1 << 20 })
	large := strings.Repeat("x", 100<<10)
	w.do("POST", widgets, a("small", `"size":1`)).want(201, "")
	w.do("POST", widgets, strings.Replace(a("large", `"size":1`), `"metadata":{`, `"metadata":{"annotations":{"a":"`+large+`"},`, 1)).want(201, "")
	taken := func() int64 {
		used, _, _ := m.Uses()
		return used[memory.Lists]
	}
	for _, c := range []struct {
		name, accept string
		takes        bool
	}{
		{"large", "application/yaml", true}, {"large", "application/cbor", true}, {"large", "application/json", false}, {"small", "application/yaml", false},
	} {
		get := func(code int) {
			t.Helper()
			resp := w.Serve(request("GET", widgets+"/"+c.name, "", "Accept: "+c.accept))
			if resp.Code != code {
				t.Fatalf("%s as %s: %d", c.name, c.accept, resp.Code)
			}
			if n := taken(); code == 200 && (n > int64(len(large))) != c.takes {
				t.Errorf("%s as %s: %d bytes are taken", c.name, c.accept, n)
			}
			if resp.Done != nil {
				resp.Done()
			}
			if n := taken(); code == 200 && n != 0 {
				t.Errorf("%s as %s: %d bytes are taken by nobody", c.name, c.accept, n)
			}
		}
		get(200)
		if c.takes {
			get := get
			synctest.Test(t, func(t *testing.T) { // who waits, and is told to come again
				all := m.For(memory.Lists)
				if !all.Take(most - 50<<10) {
					t.Fatal("there is nothing")
				}
				get(429)
				all.Give(most - 50<<10)
			})
		}
	}
}
