package api

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
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

// What a client selects to begin a watch with is held for it alone until it was sent.
func TestWhatWatchesBeginWithTakesMemory(t *testing.T) {
	m := memory.New(1 << 20) // 384 KiB for watches
	w := newWorld(t, within(bounds.New(bounds.Limits{Watching: m.For(memory.Watches)})))
	for i := range 20 {
		w.do("POST", widgets, a(fmt.Sprint("w", i), `"size":1`)).want(201, "")
	}
	taken := func() int64 {
		used, _, _ := m.Uses()
		return used[memory.Watches]
	}
	begin := func(query string) (*reply.Response, int64) {
		before := taken()
		resp := w.Serve(request("GET", widgets+"?watch=1"+query, ""))
		return resp, taken() - before
	}
	plain, least := begin("")
	selected, took := begin("&labelSelector=a!%3Db")
	if plain.Stream == nil || selected.Stream == nil || took < least+20*8 || took > least+20*16 {
		t.Errorf("%d and %d bytes are taken", least, took)
	}
	ctx, leave := context.WithCancel(t.Context())
	sent, done := &flushed{told: make(chan struct{}, 100)}, make(chan struct{})
	go func() {
		defer close(done)
		selected.Stream(ctx, sent)
	}()
	for deadline := time.Now().Add(patience); taken() != 2*least; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are taken once all was sent", taken())
		}
	}
	if !m.For(memory.Watches).Take(384<<10 - int(3*least) - 100) {
		t.Fatal("there is nothing for watches")
	}
	w.do("GET", widgets+"?watch=1&labelSelector=a!%3Db", "").want(429, "memory")
	leave()
	<-done
	plain.Stream(ctx, nowhere{})
	m.For(memory.Watches).Give(384<<10 - int(3*least) - 100)
	if n := taken(); n != 0 {
		t.Errorf("%d bytes are taken by nobody", n)
	}
}

// What is read of the past is in memory for one list alone, however little is there by now.
func TestListsOfThePastTakeMemory(t *testing.T) {
	m := memory.New(1 << 20)
	w := worldOf(t, true, within(bounds.New(bounds.Limits{Lists: m.For(memory.Lists)})))
	for _, name := range []string{"a", "b", "c", "d"} {
		w.do("POST", widgets, strings.Replace(a(name, ""), `"metadata":{`, `"metadata":{"annotations":{"a":"`+strings.Repeat("x", 30<<10)+`"},`, 1)).want(201, "")
	}
	rev, err := w.store.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		w.do("DELETE", widgets+"/"+name, "").want(200, "")
	}
	past := fmt.Sprintf("%s?resourceVersion=%d&resourceVersionMatch=Exact", widgets, rev)
	resp := w.Serve(request("GET", past, ""))
	if used, _, _ := m.Uses(); resp.Code != 200 || used[memory.Lists] < 4*60<<10 {
		t.Fatalf("%d: %d bytes are taken", resp.Code, used[memory.Lists])
	}
	if resp.Write != nil {
		if err := resp.Write(io.Discard); err != nil {
			t.Error(err)
		}
	}
	resp.Done()
	if !m.For(memory.Lists).Take(250 << 10) {
		t.Fatal("there is nothing")
	}
	w.do("GET", past, "").want(429, "memory")
	w.do("GET", past+"&limit=1", "").want(200, "")
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

// sent is called when a client has a reply.
func sent(resp *reply.Response) {
	if resp.Done != nil {
		resp.Done()
	}
}

// digits is a text that hardly gets smaller when it is compressed.
func digits(n int) string {
	text := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = "0123456789abcdef"[r.IntN(16)]
	}
	return string(text)
}

// noted is an object with a long annotation.
func noted(name, note string) string {
	return strings.Replace(a(name, `"size":1`), `"metadata":{`, `"metadata":{"annotations":{"a":"`+note+`"},`, 1)
}

// The reply to a write of a large object takes memory until it is sent, whatever it was
// that asked for it; that to one of a small object takes none.
func TestRepliesToWritesTakeMemory(t *testing.T) {
	m := memory.New(1 << 20) // 384 kB for lists
	w := newWorld(t, within(bounds.New(bounds.Limits{Lists: m.For(memory.Lists)})), func(c *Setup) { c.MaxBodyBytes = 1 << 20 })
	large := strings.Repeat("x", 100<<10)
	taken := func() int64 {
		used, _, _ := m.Uses()
		return used[memory.Lists]
	}
	const merge, apply = "Content-Type: application/merge-patch+json", "Content-Type: application/apply-patch+yaml"
	for _, c := range []struct {
		method, path, body, header string
		code                       int
		takes                      bool
	}{
		{"POST", "", noted("large", large), "", 201, true},
		{"POST", "?dryRun=All", noted("other", large), "", 201, true},
		{"PATCH", "/large", `{"metadata":{"labels":{"a":"b"}}}`, merge, 200, true},
		{"PATCH", "/large", `{"metadata":{"labels":{"a":"b"}}}`, merge, 200, true}, // which changes nothing
		{"PATCH", "/large?dryRun=All", `{"metadata":{"labels":{"a":"c"}}}`, merge, 200, true},
		{"PATCH", "/large?fieldManager=x", a("large", `"size":1`), apply, 200, true},
		{"PATCH", "/large", `{"metadata":{"finalizers":["a.b/c"]}}`, merge, 200, true},
		{"DELETE", "/large", "", "", 200, true},
		{"POST", "", noted("small", "x"), "", 201, false},
		{"PATCH", "/small", `{"metadata":{"labels":{"a":"b"}}}`, merge, 200, false},
		{"DELETE", "", "", "", 200, true},
	} {
		headers := []string{}
		if c.header != "" {
			headers = append(headers, c.header)
		}
		resp := w.Serve(request(c.method, widgets+c.path, c.body, headers...))
		if resp.Code != c.code {
			t.Fatalf("%s %s: %d %.300s", c.method, c.path, resp.Code, resp.Body)
		}
		if n := taken(); (n > 0) != c.takes || c.path != "" && c.takes && n < int64(len(large)) {
			t.Errorf("%s %s: %d bytes are taken", c.method, c.path, n)
		}
		sent(resp)
		if n := taken(); n != 0 {
			t.Errorf("%s %s: %d bytes are taken by nobody", c.method, c.path, n)
		}
	}
}

// A write whose reply finds no memory is refused before anything is written.
func TestAWriteWithoutMemoryWritesNothing(t *testing.T) {
	const most = 384 << 10
	m := memory.New(1 << 20)
	w := newWorld(t, within(bounds.New(bounds.Limits{Lists: m.For(memory.Lists)})), func(c *Setup) { c.MaxBodyBytes = 1 << 20 })
	large := strings.Repeat("x", 100<<10)
	w.do("POST", widgets, noted("large", large)).want(201, "")
	before := w.do("GET", widgets+"/large", "").want(200, "").body
	all := m.For(memory.Lists)
	for name, r := range map[string]*Request{
		"a create": request("POST", widgets, noted("other", large)),
		"a patch":  request("PATCH", widgets+"/large", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type: application/merge-patch+json"),
	} {
		synctest.Test(t, func(t *testing.T) {
			if !all.Take(most - 50<<10) {
				t.Fatal("there is nothing")
			}
			defer all.Give(most - 50<<10)
			if resp := w.Serve(r); resp.Code != 429 || !strings.Contains(string(resp.Body), "memory") {
				t.Errorf("%s: %d %.300s", name, resp.Code, resp.Body)
			}
		})
	}
	if after := w.do("GET", widgets+"/large", "").want(200, "").body; after != before {
		t.Errorf("%.300s\nbefore\n%.300s", after, before)
	}
	w.do("GET", widgets+"/other", "").want(404, "")
	if used, _, _ := m.Uses(); used[memory.Lists] != 0 {
		t.Errorf("%d bytes are taken by nobody", used[memory.Lists])
	}
}

// A collection of which cannot be told what it was is not deleted.
func TestACollectionWithoutMemoryIsNotDeleted(t *testing.T) {
	t.Parallel()
	const most = 384 << 10
	m := memory.New(1 << 20)
	w := newWorld(t, within(bounds.New(bounds.Limits{Lists: m.For(memory.Lists)})), func(c *Setup) { c.MaxBodyBytes = 1 << 20 })
	for _, name := range []string{"one", "two"} {
		w.do("POST", widgets, noted(name, strings.Repeat("x", 60<<10))).want(201, "")
	}
	all := m.For(memory.Lists)
	if !all.Take(most - 50<<10) {
		t.Fatal("there is nothing")
	}
	// It is refused after five seconds, which pass: who deletes waits for the store, too.
	resp := w.Serve(request("DELETE", widgets, "", "Accept: application/yaml"))
	if resp.Code != 429 || !strings.Contains(string(resp.Body), "memory") {
		t.Errorf("%d %.300s", resp.Code, resp.Body)
	}
	all.Give(most - 50<<10)
	for _, name := range []string{"one", "two"} {
		w.do("GET", widgets+"/"+name, "").want(200, "")
	}
	if used, _, _ := m.Uses(); used[memory.Lists] != 0 {
		t.Errorf("%d bytes are taken by nobody", used[memory.Lists])
	}
	if got := w.do("DELETE", widgets, "").want(200, "").body; !strings.Contains(got, `"name":"one"`) || !strings.Contains(got, `"name":"two"`) {
		t.Errorf("%.300s", got)
	}
	w.do("GET", widgets+"/one", "").want(404, "")
}

// JSON that others keep takes memory where it is compressed for who asks.
func TestCompressedObjectsTakeMemory(t *testing.T) {
	const most = 384 << 10
	m := memory.New(1 << 20)
	w := newWorld(t, within(bounds.New(bounds.Limits{Lists: m.For(memory.Lists)})), func(c *Setup) { c.MaxBodyBytes = 1 << 20 })
	resp := w.Serve(request("POST", widgets, noted("large", digits(200<<10))))
	if resp.Code != 201 {
		t.Fatal(resp.Code)
	}
	resp.Done()
	taken := func() int64 {
		used, _, _ := m.Uses()
		return used[memory.Lists]
	}
	get := func(code int) *reply.Response {
		t.Helper()
		resp := w.Serve(request("GET", widgets+"/large", "", takesGzip))
		if resp.Code != code {
			t.Fatalf("%d", resp.Code)
		}
		return resp
	}
	one := get(200)
	if n := taken(); n < int64(one.Length) || one.Length < 64<<10 {
		t.Errorf("%d bytes are taken by %d", n, one.Length)
	}
	one.Done()
	if n := taken(); n != 0 {
		t.Errorf("%d bytes are taken by nobody", n)
	}
	synctest.Test(t, func(t *testing.T) {
		all := m.For(memory.Lists)
		if !all.Take(most - 50<<10) {
			t.Fatal("there is nothing")
		}
		defer all.Give(most - 50<<10)
		if resp := get(429); !strings.HasPrefix(string(resp.Body), `{"kind":"Status"`) {
			t.Errorf("%.100s", resp.Body)
		}
	})
}
