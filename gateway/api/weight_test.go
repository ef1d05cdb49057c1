package api

import (
	"context"
	"encoding/json"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/bounds"
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
		"merges":   {mediaYAML, filled("a: &a {x: 1}\nb:\n", " <<: *a\n", "")},
		"flow":     {mediaYAML, filled("{a: [", "0,", "]}")},
		"maps":     {mediaYAML, filled("a: [", "{a},", "]")},
		"dashes":   {mediaYAML, filled("a:\n", "-\n", "")},
		"JSON":     {mediaJSON, filled(`{"a":[`, `{},`, `0]}`)},
		"CBOR":     {mediaCBOR, string(cbor)},
		"aliases":  {mediaYAML, "a: &a [" + strings.Repeat("0,", 300) + "]\nb: [" + strings.Repeat("*a,", 300) + "]\n"},
		"groups":   {mediaProtobuf, filled("k8s\x00\x13\x14", "\x6a\x00", "")},
		"protobuf": {mediaProtobuf, filled("k8s\x00", "\x12\x00", "")},
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
		"Content-Type: "+mediaYAML).want(201, "")
}

// What many small requests take together is bounded, too; others have their part,
// and all of it is given back.
func TestBodiesTogetherAreBounded(t *testing.T) {
	all := bounds.New(bounds.Limits{Bytes: 2 << 20})
	inside, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, within(all), func(c *Setup) {
		c.Reviews = map[schema.GroupResource]Review{
			{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}: func(_ context.Context, _ *authn.User, _ map[string]any) error {
				inside <- struct{}{}
				<-release
				return nil
			},
		}
	})
	body := "apiVersion: authorization.k8s.io/v1\nkind: SelfSubjectAccessReview\nspec: {nonResourceAttributes: {verb: get, path: '/" + strings.Repeat(",", 500) + "'}}\n"
	ask := func() *answer {
		return w.do("POST", selfReviews, body, "Authorization: Bearer bob", "Content-Type: "+mediaYAML)
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

// decoded is how many bytes f allocates.
func decoded(f func()) int {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	f()
	goruntime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// What a body is said to take is what its decoders allocate: not half of it for
// any form, or many would pass, and no more than a few times that, or common
// objects would be refused.
func TestTheWeightIsWhatDecodingAllocates(t *testing.T) {
	parse := func(body string) { _, _, _ = object.Parse([]byte(body)) }
	pod := func(body string) {
		var p corev1.Pod
		if err := p.Unmarshal([]byte(body)); err != nil {
			t.Error(err)
		}
		tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&p)
		if err != nil {
			t.Error(err)
		}
		if _, err := object.Encode(tree); err != nil {
			t.Error(err)
		}
	}
	numbers := filled("\x22\xa0\x1f", "\x01", "") // groups of a pod: 4000 in one field
	document := func(body string) { _, _ = yamlToJSON([]byte(body)) }
	for name, c := range map[string]struct {
		media, body string
		decode      func(string)
	}{
		"numbers":     {mediaJSON, filled(`{"a":[`, `0,`, `0]}`), parse},
		"lists":       {mediaJSON, filled(`{"a":[`, `[],`, `0]}`), parse},
		"objects":     {mediaJSON, filled(`{"a":[`, `{"":0},`, `0]}`), parse},
		"flow":        {mediaYAML, filled("{a: [", "0,", "]}"), document},
		"flow maps":   {mediaYAML, filled("a: [", "{a},", "]"), document},
		"dashes":      {mediaYAML, filled("a:\n", "-\n", ""), document},
		"aliases":     {mediaYAML, filled("a: &a {}\nb: [", "*a,", "]"), document},
		"questions":   {mediaYAML, filled("", "? a\n", ""), document},
		"packed":      {mediaProtobuf, "\x12\xa6\x1f\x72\xa3\x1f" + numbers, pod},
		"common JSON": {mediaJSON, filled(`{"a":[`, `{"name":"container","image":"registry.example.com/image:v1"},`, `0]}`), parse},
		"common YAML": {mediaYAML, filled("a:\n", "- name: container\n  image: registry.example.com/image\n", ""), document},
	} {
		c.decode(c.body) // what is made once for a type is no body's
		took, said := decoded(func() { c.decode(c.body) }), weight(c.media, []byte(c.body))
		if said < took/2 || said > 4*took {
			t.Errorf("%s: %d bytes for a body whose decoders allocate %d", name, said, took)
		}
	}
}

// What aliases stand for is weighed, not only where they are.
func TestAliasesWeighWhatTheyStandFor(t *testing.T) {
	for name, one := range map[string]string{
		"numbers": strings.Repeat("0,", 300),
		"lists":   strings.Repeat("[],", 300),
		"maps":    strings.Repeat("{},", 300),
		"pairs":   strings.Repeat("{a: b},", 300),
		"texts":   strings.Repeat("x", 10_000),
	} {
		body := "a: &a [" + one + "]\nb: [" + strings.Repeat("*a,", 80) + "]\n"
		c := Call{Request: &Request{ContentType: mediaYAML, Body: []byte(body)}}
		took, said := decoded(func() { _, _ = yamlToJSON(c.Body) }), weight(mediaYAML, c.Body)+c.aliased()
		if said < took/2 || said > 6*took {
			t.Errorf("%s: %d bytes for a body whose decoders allocate %d", name, said, took)
		}
	}
}

// panicking is an auditor that fails.
type panicking struct{}

func (panicking) Audit(*Audit) { panic("no audit") }

// What a request has reserved is given back even when telling of it fails.
func TestAPanicOfTheAuditorLosesNoMemory(t *testing.T) {
	all := bounds.New(bounds.Limits{Bytes: 2 << 20, Watches: 1, Changing: 2})
	w := newWorld(t, within(all))
	w.asked.Authorizer, w.setup.Auditor = trusting{}, panicking{}
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
		if !all.Enter(&s, "bob", false, k) {
			t.Errorf("no room for kind %d", k)
		}
	}
}

// Separators within texts are none, where it matters.
func TestTextsWeighLittle(t *testing.T) {
	table := `{"kind":"ConfigMap","apiVersion":"v1","data":{"table":"` + strings.Repeat(`1,{[\"`, 150_000) + `"}}`
	for _, media := range []string{mediaJSON, mediaYAML} {
		if n := weight(media, []byte(table)); n > 6*len(table) {
			t.Errorf("%s: %d bytes for a text of %d", media, n, len(table))
		}
	}
}

func TestItemsOfCBORAreCounted(t *testing.T) {
	tree := map[string]any{"a": []any{map[string]any{}, "x", int64(1 << 40), 1.5, nil, true}, "b": map[string]any{"c": []byte("d")}}
	data, err := direct.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	if items, maps := cborItems(append([]byte("\xd9\xd9\xf7"), data...)); maps != 3 || items < 14 || items > 16 {
		t.Errorf("%d items, %d maps in %x", items, maps, data)
	}
	for n := range data {
		cborItems(data[:n]) // does not panic
	}
}

// BenchmarkWeight is what telling the weight of a common body adds to a write.
func BenchmarkWeight(b *testing.B) {
	pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "pod", Labels: map[string]string{"app": "one"}}}
	for i := range 10 {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprint("container", i), Image: "registry.example.com/image:v1", Args: []string{"--verbose", "--port=80"}})
	}
	text, err := json.Marshal(&pod)
	if err != nil {
		b.Fatal(err)
	}
	message, err := pod.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	for media, body := range map[string][]byte{mediaJSON: text, mediaYAML: text, mediaProtobuf: message} {
		b.Run(media, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				weight(media, body)
			}
		})
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
