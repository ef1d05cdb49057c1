package conversionreview

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// may allows what fn does, and knows the last question.
type may struct {
	authz.Masters // lists nothing
	fn            func(a authz.Attributes) (bool, string, error)
	asked         authz.Attributes
}

func (m *may) Authorize(_ context.Context, a authz.Attributes) (bool, string, error) {
	m.asked = a
	return m.fn(a)
}

// started is an engine that serves CronTabs, and the answers to reviews.
func started(t *testing.T, m *may) (e *realengine.Engine, ask func(spec string) (map[string]any, error)) {
	t.Helper()
	e, review := reviewing(t, m)
	return e, func(spec string) (map[string]any, error) {
		status, err := review(spec)
		return object.Child(status, "object"), err
	}
}

// reviewing does the same with the whole status.
func reviewing(t *testing.T, m *may) (e *realengine.Engine, ask func(spec string) (map[string]any, error)) {
	t.Helper()
	e = realengine.Start(t)
	text, err := yaml.YAMLToJSON([]byte(catalogtest.CronTab(catalogtest.V1, false)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Store.Create(t.Context(), "/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com", text, 0); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Kinds(t.Context()); err != nil {
		t.Fatal(err)
	}
	served, err := Kind().Serve(e.Verbs)
	if err != nil {
		t.Fatal(err)
	}
	var all kinds.Served
	all.Add(served)
	answer := all.Reviews(nil, m)[gvr.ConversionReviews]
	return e, func(spec string) (map[string]any, error) {
		var review map[string]any
		if err := yaml.Unmarshal([]byte(spec), &review); err != nil {
			t.Fatal(err)
		}
		review = map[string]any{"spec": review}
		err := answer(t.Context(), &authn.User{Name: "ann"}, nil, review)
		return object.Child(review, "status"), err
	}
}

const tab = `object: {apiVersion: example.com/v1beta1, kind: CronTab, metadata: {name: one, namespace: ns}, hostPort: "a:1"}`

// An object is converted as readers of it are shown it, from any version of its kind
// to any other.
func TestObjectsAreConverted(t *testing.T) {
	m := &may{fn: func(authz.Attributes) (bool, string, error) { return true, "", nil }}
	_, ask := started(t, m)
	for _, c := range []struct{ spec, want string }{
		{"desiredAPIVersion: example.com/v1\n" + tab, `{"apiVersion":"example.com/v1","host":"a","kind":"CronTab","metadata":{"name":"one","namespace":"ns"},"port":"1"}`},
		{"desiredAPIVersion: example.com/v1beta1\n" + tab, `{"apiVersion":"example.com/v1beta1","hostPort":"a:1","kind":"CronTab","metadata":{"name":"one","namespace":"ns"}}`},
		{`{desiredAPIVersion: example.com/v1beta1, object: {apiVersion: example.com/v1, kind: CronTab, metadata: {name: two}, host: b, port: "2", unknown: x}}`,
			`{"apiVersion":"example.com/v1beta1","hostPort":"b:2","kind":"CronTab","metadata":{"name":"two"}}`},
		{`{desiredAPIVersion: v1, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`},
		{`{desiredAPIVersion: events.k8s.io/v1, object: {apiVersion: v1, kind: Event, metadata: {name: c, namespace: d}, message: m}}`,
			`"note":"m"`},
	} {
		got, err := ask(c.spec)
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		if text, err := object.Encode(got); err != nil || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.spec, err, text, c.want)
		}
	}
	if m.asked.Group != "events.k8s.io" || m.asked.Version != "v1" || m.asked.Resource != "events" || m.asked.Verb != "get" || m.asked.Namespace != "d" || m.asked.Name != "c" {
		t.Errorf("asked for %+v", m.asked)
	}
}

// What is wrong with a review is said by its field, and what a converter refuses by
// its own words.
func TestMistakesInReviews(t *testing.T) {
	_, ask := started(t, &may{fn: func(authz.Attributes) (bool, string, error) { return true, "", nil }})
	for spec, want := range map[string]string{
		"desiredAPIVersion: a/b/c\n" + tab:                                                                                                   `spec.desiredAPIVersion: Invalid value: "a/b/c": must be GROUP/VERSION`,
		"desiredAPIVersion: example.com/v3\n" + tab:                                                                                          `spec.desiredAPIVersion: Invalid value: "example.com/v3": no kind CronTab is served at this version`,
		"desiredAPIVersion: other.com/v1\n" + tab:                                                                                            `no kind CronTab is served at this version`,
		`{desiredAPIVersion: example.com/v1, object: {kind: CronTab}}`:                                                                       `spec.object.apiVersion: Required value`,
		`{desiredAPIVersion: example.com/v1, object: {apiVersion: example.com/v1}}`:                                                          `spec.object.kind: Required value`,
		"desiredAPIVersion: example.com/v1\n" + strings.Replace(tab, "one", "{}", 1):                                                         `spec.object.metadata: Invalid value: `,
		`{desiredAPIVersion: example.com/v1, object: {apiVersion: example.com/v1beta1, kind: CronTab, metadata: 7}}`:                         `spec.object.metadata: Required value`,
		"desiredAPIVersion: example.com/v1\n" + strings.Replace(tab, `"a:1"`, "[]", 1):                                                       `spec.object.hostPort: Invalid value: "array": hostPort in body must be of type string`,
		`{desiredAPIVersion: example.com/v1beta1, object: {apiVersion: example.com/v1, kind: CronTab, metadata: {name: x}, port: "123456"}}`: `spec.object.port: Too long`,
		`{desiredAPIVersion: autoscaling/v2, object: {apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {}, spec: 3}}`:    `spec.object: Invalid value: `,
		`{desiredAPIVersion: example.com/v1}`:                                                                                                `Required value`,
		`{desiredAPIVersion: example.com/v1, object: {apiVersion: b.com/v1, kind: CronTab, metadata: {}}}`:                                   `spec.object.apiVersion: Invalid value: "b.com/v1": crontabs.example.com has no such version`,
		"desiredAPIVersion: example.com/v1\n" + strings.Replace(tab, "one", "bad-one", 1):                                                    "bad-one",
	} {
		if got, err := ask(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", spec, got, err, want)
		}
	}
}

// What the schema does not know reaches no converter, nor does a namespace make a
// role's of what is in none.
func TestObjectsAreSettledFirst(t *testing.T) {
	m := &may{fn: func(authz.Attributes) (bool, string, error) { return true, "", nil }}
	e, ask := started(t, m)
	e.Converter.Tidy = false
	spec := "desiredAPIVersion: example.com/v1\n" + strings.Replace(tab, "hostPort", "unknown: [[], []], hostPort", 1)
	if got, err := ask(spec); err != nil || got["unknown"] != nil || got["host"] != "a" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ask(`{desiredAPIVersion: v1, object: {apiVersion: v1, kind: Node, metadata: {name: one, namespace: ns}}}`); err != nil || m.asked.Resource != "nodes" || m.asked.Namespace != "" {
		t.Errorf("asked for %+v, %v", m.asked, err)
	}
}

// Who may not get an object has none converted, and nothing is called for it.
func TestReviewsAreForWhoMayGetTheObject(t *testing.T) {
	m := &may{}
	e, ask := started(t, m)
	for want, fn := range map[string]func(authz.Attributes) (bool, string, error){
		`crontabs.example.com "one" is forbidden: User "ann" cannot get resource "crontabs" in API group "example.com" in the namespace "ns": no role`: func(authz.Attributes) (bool, string, error) { return false, "no role", nil },
		"cannot tell": func(authz.Attributes) (bool, string, error) { return false, "", errors.New("cannot tell") },
	} {
		m.fn = fn
		if got, err := ask("desiredAPIVersion: example.com/v1\n" + tab); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want %s", got, err, want)
		}
	}
	if n := e.Converter.Calls.Load(); n != 0 {
		t.Errorf("the converter was called %d times", n)
	}
}

// Several objects are converted in their order, and each that is not tells why; what is
// about more than one of them is about the review.
func TestSeveralObjectsAreConverted(t *testing.T) {
	m := &may{fn: func(a authz.Attributes) (bool, string, error) {
		if a.Name == "unknown" {
			return false, "", errors.New("cannot tell")
		}
		return a.Name != "theirs", "", nil
	}}
	e, ask := reviewing(t, m)
	one := func(name string) string {
		return strings.TrimPrefix(strings.Replace(tab, "name: one", "name: "+name, 1), "object: ")
	}
	const to = "desiredAPIVersion: example.com/v1\n"
	status, err := ask(to + "objects: [" + strings.Join([]string{one("one"), one("unfit-one"), one("theirs"), strings.Replace(one("x"), `"a:1"`, "[]", 1), `{kind: CronTab}`, one("two")}, ", ") + "]")
	if err != nil {
		t.Fatal(err)
	}
	all, _ := status["objects"].([]any)
	want := []string{
		`{"object":{"apiVersion":"example.com/v1","host":"a","kind":"CronTab","metadata":{"name":"one","namespace":"ns"},"port":"1"}}`,
		`{"error":{"code":500,"message":"conversion webhook for example.com/v1beta1, Kind=CronTab failed: unfit-one is not fit`, `{"error":{"code":403,"message":"crontabs.example.com \"theirs\" is forbidden`,
		`spec.objects[3].hostPort: Invalid value`, `spec.objects[4].apiVersion: Required value`,
		`{"object":{"apiVersion":"example.com/v1","host":"a","kind":"CronTab","metadata":{"name":"two","namespace":"ns"},"port":"1"}}`,
	}
	if len(all) != len(want) {
		t.Fatalf("%v", status)
	}
	for i, part := range want {
		if text, err := object.Encode(all[i]); err != nil || !strings.Contains(string(text), part) {
			t.Errorf("%d: %v\n%s\nwant\n%s", i, err, text, part)
		}
	}
	if n := e.Converter.Calls.Load(); n != 4 { // together, and as one of them does not convert each of the three by itself
		t.Errorf("the converter was called %d times", n)
	}
	if status, err := ask(to + "objects: []"); err != nil || len(status["objects"].([]any)) != 0 {
		t.Errorf("none: %v, %v", status, err)
	}
	if _, err := ask(to + tab + "\nobjects: []"); err == nil || !strings.Contains(err.Error(), "spec.object: Forbidden") {
		t.Errorf("both: %v", err)
	}
	if _, err := ask(to); err == nil || !strings.Contains(err.Error(), "spec.object: Required value: what to convert; several go into objects") {
		t.Errorf("neither: %v", err)
	}
	many := strings.Repeat(strings.Replace(one("large"), `"a:1"`, `"`+strings.Repeat("a", 1<<20)+`:1"`, 1)+",", maxConverted>>20)
	if _, err := ask(to + "objects: [" + many + "]"); !apierrors.IsRequestEntityTooLargeError(err) || !strings.Contains(err.Error(), "ask about fewer at a time") {
		t.Errorf("many large ones: %v", err)
	}
}

// What is of one kind and not too large is converted by one call.
func TestObjectsOfAKindAreConvertedTogether(t *testing.T) {
	e, ask := reviewing(t, &may{fn: func(authz.Attributes) (bool, string, error) { return true, "", nil }})
	for _, c := range []struct {
		n, calls    int
		first, last string
	}{
		{togetherObjects, 1, `"name":"o0"`, `"name":"o99"`},
		{togetherObjects + 1, 2, `"name":"o0"`, `"name":"o100"`},
	} {
		var all []string
		for i := range c.n {
			all = append(all, fmt.Sprintf(`{apiVersion: example.com/v1beta1, kind: CronTab, metadata: {name: o%d, namespace: ns}, hostPort: "a:1"}`, i))
		}
		before := e.Converter.Calls.Load()
		status, err := ask("desiredAPIVersion: example.com/v1\nobjects: [" + strings.Join(all, ", ") + "]")
		if err != nil {
			t.Fatal(err)
		}
		got, _ := status["objects"].([]any)
		if n := int(e.Converter.Calls.Load() - before); n != c.calls || len(got) != c.n {
			t.Errorf("%d objects: %d calls, and %d objects come back", c.n, n, len(got))
			continue
		}
		for n, want := range map[int]string{0: c.first, c.n - 1: c.last} {
			if text, err := object.Encode(got[n]); err != nil || !strings.Contains(string(text), want) || !strings.Contains(string(text), `"port":"1"`) {
				t.Errorf("%d of %d: %.200s, %v", n, c.n, text, err)
			}
		}
	}
}

// Objects of another kind, and more bytes than are looked at at once, wait for their turn.
func TestWhatIsConvertedTogether(t *testing.T) {
	one, other := &crd.Definition{}, &crd.Definition{}
	of := func(d *crd.Definition, size int) waiting {
		w := waiting{text: make([]byte, size)}
		w.Resource = &catalog.Resource{Renderer: &view.Renderer{Converter: view.Converter{Stored: view.Stored{Def: d}}}}
		return w
	}
	for _, c := range []struct {
		queue []waiting
		want  int
	}{
		{[]waiting{of(one, 1)}, 1},
		{[]waiting{of(one, 1), of(one, 1), of(other, 1), of(one, 1)}, 2},
		{[]waiting{of(one, togetherBytes+1), of(one, 1)}, 1},
		{[]waiting{of(one, togetherBytes/2), of(one, togetherBytes/2), of(one, 1)}, 2},
		{slices.Repeat([]waiting{of(one, 1)}, togetherObjects+1), togetherObjects},
	} {
		if n := together(c.queue); n != c.want {
			t.Errorf("%d of %d are converted together, want %d", n, len(c.queue), c.want)
		}
	}
}

// A converter that fails, and says of no object that it is why, is not asked about each.
func TestAConverterThatFailsIsAskedOnce(t *testing.T) {
	e, ask := reviewing(t, &may{fn: func(authz.Attributes) (bool, string, error) { return true, "", nil }})
	bad := strings.TrimPrefix(strings.Replace(tab, "name: one", "name: bad", 1), "object: ")
	status, err := ask("desiredAPIVersion: example.com/v1\nobjects: [" + strings.TrimPrefix(tab, "object: ") + ", " + bad + "]")
	text, encoded := object.Encode(status)
	if n := e.Converter.Calls.Load(); err != nil || encoded != nil || n != 1 || strings.Count(string(text), "bad cannot be converted") != 2 {
		t.Errorf("%s, %v, %d calls", text, err, n)
	}
}

// An authorizer that fails says nothing of any object: it ends the review.
func TestAnAuthorizerThatFailsEndsAReview(t *testing.T) {
	e, ask := reviewing(t, &may{fn: func(a authz.Attributes) (bool, string, error) {
		if a.Name == "two" {
			return false, "", errors.New("cannot tell")
		}
		return true, "", nil
	}})
	second := strings.TrimPrefix(strings.Replace(tab, "name: one", "name: two", 1), "object: ")
	status, err := ask("desiredAPIVersion: example.com/v1\nobjects: [" + strings.TrimPrefix(tab, "object: ") + ", " + second + "]")
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "cannot tell") {
		t.Errorf("%v, %v", status, err)
	}
	if n := e.Converter.Calls.Load(); n != 0 {
		t.Errorf("the converter was called %d times", n)
	}
}
