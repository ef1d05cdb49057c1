package api

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/bounds"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

const selfReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// within bounds what bodies may take, which may be 64 KiB long.
func within(b *bounds.Bounds) func(*Setup) {
	return func(c *Setup) { c.CBOR, c.Bounds, c.MaxBodyBytes = true, b, 64<<10 }
}

// filled is a text of pieces between a beginning and an end.
func filled(begin, piece, end string) string { return begin + strings.Repeat(piece, 4000) + end }

// Who may do nothing but ask who it is cannot take all the memory with small bodies
// that are large once they are decoded.
func TestABodyThatIsLargeOnceDecodedIsRefused(t *testing.T) {
	all := bounds.New(bounds.Limits{Bytes: 2 << 20})
	w := newWorld(t, within(all))
	var lists []any
	for range 8000 {
		lists = append(lists, map[string]any{})
	}
	cbor, err := direct.Marshal(map[string]any{"spec": lists})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][2]string{
		"merges":   {encoding.TypeYAML, filled("a: &a {x: 1}\nb:\n", " <<: *a\n", "")},
		"flow":     {encoding.TypeYAML, filled("{a: [", "0,", "]}")},
		"maps":     {encoding.TypeYAML, filled("a: [", "{a},", "]")},
		"dashes":   {encoding.TypeYAML, filled("a:\n", "-\n", "")},
		"JSON":     {encoding.TypeJSON, filled(`{"a":[`, `{},`, `0]}`)},
		"CBOR":     {encoding.TypeCBOR, string(cbor)},
		"aliases":  {encoding.TypeYAML, "a: &a [" + strings.Repeat("0,", 300) + "]\nb: [" + strings.Repeat("*a,", 300) + "]\n"},
		"groups":   {encoding.TypeProtobuf, filled("k8s\x00\x13\x14", "\x6a\x00", "")},
		"protobuf": {encoding.TypeProtobuf, filled("k8s\x00", "\x12\x00", "")},
	} {
		for _, user := range []string{"bob", "admin"} {
			got := w.do("POST", selfReviews, body[1], "Authorization: Bearer "+user, "Content-Type: "+body[0])
			if got.Code != 413 || !strings.Contains(got.body, "decoding the body takes about") {
				t.Errorf("%s of %s: %d %.200s", name, user, got.Code, got.body)
			}
		}
	}
	if n := all.Bytes(); n != 0 {
		t.Errorf("%d bytes are taken by nobody", n)
	}
	w.do("POST", widgets, a("plain", `"size":1`)).want(201, "")
	w.do("POST", widgets, "kind: Widget\napiVersion: example.com/v1\nmetadata:\n  name: yaml\n  annotations:\n    long: "+strings.Repeat("x", 40<<10)+"\n",
		"Content-Type: "+encoding.TypeYAML).want(201, "")
}

// What many small requests take together is bounded, too; others have their part,
// and all of it is given back.
func TestBodiesTogetherAreBounded(t *testing.T) {
	all := bounds.New(bounds.Limits{Bytes: 2 << 20})
	inside, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, within(all), func(c *Setup) {
		c.Reviews = map[schema.GroupResource]Review{
			{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}: func(_ context.Context, _ *authn.User, _ authn.Notes, _ map[string]any) error {
				inside <- struct{}{}
				<-release
				return nil
			},
		}
	})
	body := "apiVersion: authorization.k8s.io/v1\nkind: SelfSubjectAccessReview\nspec: {nonResourceAttributes: {verb: get, path: '/" + strings.Repeat(",", 500) + "'}}\n"
	ask := func() *answer {
		return w.do("POST", selfReviews, body, "Authorization: Bearer bob", "Content-Type: "+encoding.TypeYAML)
	}
	var held sync.WaitGroup
	for range 2 {
		held.Go(func() { ask().want(201, "") })
		select {
		case <-inside:
		case <-time.After(patience):
			t.Fatal("no review is under way")
		}
	}
	refused := ask().want(429, "takes all the memory")
	if s := fmt.Sprint(refused.Headers); !strings.Contains(s, "{Retry-After 1}") {
		t.Errorf("headers %s", s)
	}
	w.do("POST", widgets, a("other", `"size":1`)).want(201, "")
	close(release)
	held.Wait()
	if n := all.Bytes(); n != 0 {
		t.Errorf("%d bytes are taken by nobody", n)
	}
}

// panicking is an auditor that fails.
type panicking struct{ *audits }

func (panicking) Audit(*Audit) bool { panic("no audit") }

// What a request has reserved is given back even when telling of it fails.
func TestAPanicOfTheAuditorLosesNoMemory(t *testing.T) {
	all := bounds.New(bounds.Limits{Bytes: 2 << 20, Watches: 1, Changing: 2})
	w := newWorld(t, within(all))
	w.asked.Authorizer, w.setup.Auditor = trusting{}, panicking{&audits{}}
	w.Handler = NewHandler(w.setup)
	const bob = "Authorization: Bearer bob"
	for _, r := range []*Request{request("POST", widgets, a("one", `"size":1`), bob), request("GET", widgets+"?watch=1", "", bob)} {
		func() {
			defer func() { _ = recover() }()
			resp := w.Serve(r)
			if resp.Stream != nil {
				t.Error("a watch that nobody was told of began")
				return
			}
		}()
	}
	if n := all.Bytes(); n != 0 {
		t.Errorf("%d bytes are taken by nobody", n)
	}
	var s bounds.Stay
	for _, k := range []bounds.Kind{bounds.Lasts, bounds.Changes} {
		if all.Enter(&s, "bob", false, k) != nil {
			t.Errorf("no room for kind %d", k)
		}
	}
}

// BenchmarkCreate is a create within the process that stores nothing.
func BenchmarkCreate(b *testing.B) {
	for name, all := range map[string]*bounds.Bounds{"unbounded": nil, "bounded": bounds.New(bounds.Limits{Bytes: 1 << 30})} {
		w := newWorld(b, within(all), func(c *Setup) { c.Observer = uncounted{} })
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if resp := w.Serve(request("POST", widgets+"?dryRun=All", a("one", `"size":1`))); resp.Code != 201 {
					b.Fatalf("%d", resp.Code)
				}
			}
		})
	}
}
