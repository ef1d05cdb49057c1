package admission

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
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/wasmgate/wasmgate/crd/object"
)

// world is a write, and webhooks that note what they are sent.
type world struct {
	t        *testing.T
	mu       sync.Mutex
	sent     []map[string]any
	called   []string
	answers  map[string]func(ctx context.Context, request map[string]any) (string, error)
	warned   []string
	ignored  []string
	calls    []Call
	now, old map[string]any
	spaces   map[string]labels.Set
	replaced int
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, answers: map[string]func(context.Context, map[string]any) (string, error){},
		now:    tree(t, `{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"one","namespace":"ns","labels":{"a":"b"}},"host":"h"}`),
		spaces: map[string]labels.Set{"ns": {"team": "x"}},
	}
}

func tree(t *testing.T, text string) map[string]any {
	t.Helper()
	out, _, err := object.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// connect implements Connect: the host of the URL is the name of the answer.
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

func (c caller) Call(ctx context.Context, review []byte, accept func([]byte) error) error {
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
			return err
		}
	}
	if strings.HasPrefix(response, `{"allowed"`) {
		uid := sent["request"].(map[string]any)["uid"]
		response = fmt.Sprintf(`{"apiVersion":%q,"kind":"AdmissionReview","response":{"uid":%q,%s}`, sent["apiVersion"], uid, response[1:])
	}
	return accept([]byte(response))
}

func says(response string) func(context.Context, map[string]any) (string, error) {
	return func(context.Context, map[string]any) (string, error) { return response, nil }
}

func patches(patch string) func(context.Context, map[string]any) (string, error) {
	return says(`{"allowed":true,"patchType":"JSONPatch","patch":"` + base64.StdEncoding.EncodeToString([]byte(patch)) + `"}`)
}

// New, Old, Labels and Replace implement Objects.
func (w *world) New(_ context.Context, version string) (map[string]any, error) {
	return at(w.now, version)
}
func (w *world) Old(_ context.Context, version string) (map[string]any, error) {
	return at(w.old, version)
}

func at(tree map[string]any, version string) (map[string]any, error) {
	if tree == nil {
		return nil, nil
	}
	if version == "broken" {
		return nil, errors.New("no conversion")
	}
	out := maps.Clone(tree)
	out["apiVersion"] = "example.com/" + version
	return out, nil
}

func (w *world) Labels() (all []labels.Set, err error) {
	for _, t := range []map[string]any{w.now, w.old} {
		if t == nil {
			continue
		}
		set := labels.Set{}
		l, _ := t["metadata"].(map[string]any)["labels"].(map[string]any)
		for k, v := range l {
			set[k] = v.(string)
		}
		all = append(all, set)
	}
	return all, nil
}

func (w *world) Replace(_ context.Context, _ string, tree map[string]any) error {
	w.replaced++
	tree["apiVersion"] = "example.com/v1"
	w.now = tree
	return nil
}

type spaces struct{ w *world }

func (s spaces) Labels(_ context.Context, name string) (labels.Set, error) {
	if set, ok := s.w.spaces[name]; ok {
		return set, nil
	}
	if name == "broken" {
		return nil, errors.New("no store")
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, name)
}

// request is the creation of a Tab at v1.
func (w *world) request() *Request {
	return &Request{
		Operation: Create, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "tabs"},
		Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Tab"}, Versions: []string{"v2", "v1beta1"},
		Namespace: "ns", Name: "one", User: &user.DefaultInfo{Name: "alice", UID: "u", Groups: []string{"g"}, Extra: map[string][]string{"e": {"f"}}},
		Options: &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{Kind: "CreateOptions", APIVersion: "meta.k8s.io/v1"}},
		Objects: w, Namespaces: spaces{w}, Authorizer: authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionAllow, "", nil
		}),
		Warn: func(text string) { w.warned = append(w.warned, text) },
		Called: func(c Call) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.calls = append(w.calls, c)
		},
		Ignored: func(h *Hook, err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ignored = append(w.ignored, err.Error())
		},
	}
}

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
func mutate(ctx context.Context, hooks []*Hook, r *Request) error {
	return Mutate(ctx, r, Mutation(hooks, r))
}

// Overlay implements Objects.
func (w *world) Overlay(context.Context, string, map[string]any) (map[string]any, error) {
	return nil, errors.New("webhooks overlay nothing")
}

// Namespace implements Namespaces.
func (s spaces) Namespace(context.Context, string) (*corev1.Namespace, error) {
	return nil, errors.New("webhooks want labels only")
}
