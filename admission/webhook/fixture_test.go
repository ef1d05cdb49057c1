package webhook

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// world is a write, and webhooks that note what they are sent.
type world struct {
	admissiontest.Objects
	t       *testing.T
	mu      sync.Mutex
	sent    []map[string]any
	called  []string
	answers map[string]func(ctx context.Context, request map[string]any) (string, error)
	warned  []string
	ignored []string
	calls   []Call
	spaces  admissiontest.Namespaces
}

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, answers: map[string]func(context.Context, map[string]any) (string, error){},
		spaces: admissiontest.Namespaces{"ns": {"team": "x"}},
	}
	w.After = tree(t, `{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"one","namespace":"ns","labels":{"a":"b"}},"host":"h"}`)
	return w
}

var tree = admissiontest.Tree

// connect implements Dial: the host of the URL is the name of the answer.
func (w *world) connect(c admissionv1.WebhookClientConfig) (Caller, error) {
	if c.URL == nil {
		return nil, errors.New("nowhere")
	}
	return caller{w, strings.TrimPrefix(*c.URL, "https://")}, nil
}

type caller struct {
	w  *world
	at string
}

func (c caller) Call(ctx context.Context, review []byte, accept func([]byte) error) (string, error) {
	var sent map[string]any
	if err := json.Unmarshal(review, &sent); err != nil {
		c.w.t.Errorf("%v in %s", err, review)
	}
	c.w.mu.Lock()
	c.w.sent, c.w.called = append(c.w.sent, sent), append(c.w.called, c.at)
	answer := c.w.answers[c.at]
	c.w.mu.Unlock()
	response := `{"allowed":true}`
	if answer != nil {
		var err error
		if response, err = answer(ctx, sent["request"].(map[string]any)); err != nil {
			return "", err
		}
	}
	if strings.HasPrefix(response, `{"allowed"`) {
		uid := sent["request"].(map[string]any)["uid"]
		response = fmt.Sprintf(`{"apiVersion":%q,"kind":"AdmissionReview","response":{"uid":%q,%s}`, sent["apiVersion"], uid, response[1:])
	}
	return "sha256:" + c.at, accept([]byte(response))
}

func says(response string) func(context.Context, map[string]any) (string, error) {
	return func(context.Context, map[string]any) (string, error) { return response, nil }
}

func patches(patch string) func(context.Context, map[string]any) (string, error) {
	return says(`{"allowed":true,"patchType":"JSONPatch","patch":"` + base64.StdEncoding.EncodeToString([]byte(patch)) + `"}`)
}

// request is the creation of a Tab at v1.
func (w *world) request() *admissiontest.Attributes {
	return &admissiontest.Attributes{
		Operation: admission.Create, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "tabs"},
		Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Tab"}, Versions: []string{"v2", "v1beta1"},
		Namespace: "ns", Name: "one", User: &authn.User{Name: "alice", UID: "u", Groups: []string{"g"}, Extra: map[string][]string{"e": {"f"}}},
		Options: &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{Kind: "CreateOptions", APIVersion: "meta.k8s.io/v1"}},
		Objects: &w.Objects, Namespaces: w.spaces, Warned: &w.warned,
	}
}

// dispatcher allows whatever conditions ask, and notes what it is told.
func (w *world) dispatcher() *Dispatcher {
	return &Dispatcher{
		Authorizer: anything,
		Called: func(_ admission.Attributes, c Call) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.calls = append(w.calls, c)
		},
		Signers: func(_ context.Context, h *Hook, digest string) []string { return []string{"t/" + h.Name + digest} },
		Ignored: func(h *Hook, err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ignored = append(w.ignored, err.Error())
		},
	}
}

var anything = authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
})

// hooks compiles webhooks; each is JSON that is completed to a good one called
// like its URL.
func (w *world) hooks(mutating bool, texts ...string) []*Hook {
	w.t.Helper()
	var c admissionv1.MutatingWebhookConfiguration
	for i, text := range texts {
		name := string(rune('a' + i))
		whole := tree(w.t, `{"name":"`+name+`","clientConfig":{"url":"https://`+name+`"},"sideEffects":"None","admissionReviewVersions":["v1"],
			"rules":[{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["tabs"]}]}`)
		maps.Copy(whole, tree(w.t, text))
		data, err := object.Encode(whole)
		if err != nil {
			w.t.Fatal(err)
		}
		var h admissionv1.MutatingWebhook
		if err := json.Unmarshal(data, &h); err != nil {
			w.t.Fatal(err)
		}
		c.Webhooks = append(c.Webhooks, h)
	}
	if mutating {
		return Mutating(&c, w.connect)
	}
	var v admissionv1.ValidatingWebhookConfiguration
	data, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return Validating(&v, w.connect)
}

// mutate runs the stage of the webhooks alone.
func (w *world) mutate(ctx context.Context, hooks []*Hook, a admission.Attributes) error {
	r := admission.NewReinvocation(a)
	return admission.Mutate(ctx, r, w.dispatcher().Stage(hooks, r))
}

// validate asks the webhooks that validate.
func (w *world) validate(ctx context.Context, hooks []*Hook, a admission.Attributes) error {
	return w.dispatcher().Validate(ctx, hooks, a)
}

// about is a request for a resource.
func about(gr schema.GroupResource) admission.Resource {
	return &admissiontest.Attributes{Resource: gr.WithVersion("v1")}
}
