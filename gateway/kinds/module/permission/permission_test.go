package permission_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	modules "github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/permission"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/storage"
)

// authority lets bob use the rules a, and the module a and exceed limits with it, and read what is in the namespace open, and the
// Namespace of that name.
type authority struct{}

func (authority) Authorize(_ context.Context, a authz.Attributes) (bool, string, error) {
	return a.User.Name == "bob" && ((a.Verb == "use" || a.Verb == "exceed") && a.Resource == "wasmmodules" && a.Name == "a" ||
		a.Verb == "use" && a.Resource == "conversionrules" && a.Name == "a" ||
		a.Verb == "get" && (a.Namespace == "open" || a.Resource == "namespaces" && a.Name == "open")), "", nil
}

type world struct {
	*engine.Engine
	t *testing.T
}

func newWorld(t *testing.T) world {
	return world{realengine.With(t, func(*engine.Engine) admission.Chain {
		return admission.Chain{Validators: []admission.Validator{permission.Guard{May: authority{}, Stored: stored}}}
	}).Verbs, t}
}

func (w world) target(gr schema.GroupResource, name string) resource.Target {
	r := w.Catalog().Snapshot().Resource(gr)
	return resource.Target{Resource: r, Version: r.Def.Version(r.Def.StorageVersion), Name: name}
}

func by(user string) resource.WriteOptions {
	return resource.WriteOptions{Caller: resource.Caller{User: &authn.User{Name: user}}}
}

func (w world) create(gr schema.GroupResource, user, body string) error {
	_, err := w.Create(w.t.Context(), w.target(gr, ""), []byte(body), by(user))
	return err
}

func (w world) patch(gr schema.GroupResource, user, name, body string) error {
	_, err := w.Patch(w.t.Context(), w.target(gr, name), types.MergePatchType, []byte(body), by(user))
	return err
}

// refused checks that an error is a refusal with a text; "" is no error.
func refused(t *testing.T, what string, err error, text string) {
	t.Helper()
	if text == "" && err != nil || text != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), text)) {
		t.Errorf("%s: %v, want %q", what, err, text)
	}
}

func order(name, module string) string {
	return `{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriority","metadata":{"name":"` + name + `"},"spec":{"groups":["example.com"],"module":"` + module + `"}}`
}

func webhooks(urls ...string) string {
	var hooks []string
	for _, url := range urls {
		hooks = append(hooks, `{"name":"`+strings.Trim(strings.NewReplacer("/", "", ":", "").Replace(url), ".")+`.example.com","clientConfig":{"url":"`+url+`"},"sideEffects":"None","admissionReviewVersions":["v1"]}`)
	}
	return `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"hooks"},"webhooks":[` + strings.Join(hooks, ",") + `]}`
}

func definition(plural, module string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + plural + `.example.com"},"spec":{
		"group":"example.com","scope":"Cluster","names":{"plural":"` + plural + `","singular":"` + plural + `","kind":"K","listKind":"KList"},
		"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"wasm://` + module + `"}}},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
}

func TestGuard_WhoRefersToAModuleMayUseIt(t *testing.T) {
	w := newWorld(t)
	const no = `User "bob" cannot use resource "wasmmodules" in API group "wasmgate.dev" at the cluster scope`
	refused(t, "an order", w.create(gvr.Priorities, "bob", order("a", "a")), "")
	refused(t, "an order by another", w.create(gvr.Priorities, "bob", order("b", "b")), "spec.module: "+no)
	refused(t, "a definition", w.create(gvr.Definitions, "bob", definition("as", "a")), "")
	refused(t, "a definition by another", w.create(gvr.Definitions, "bob", definition("bs", "b")), "spec.conversion.webhook.clientConfig.url: "+no)
	refused(t, "rules", w.create(gvr.Definitions, "bob", definition("rs", "rules/a")), "")
	refused(t, "rules by another", w.create(gvr.Definitions, "bob", definition("ss", "rules/b")), `spec.conversion.webhook.clientConfig.url: User "bob" cannot use resource "conversionrules"`)
	refused(t, "who changes the rest of it", w.patch(gvr.Definitions, "carol", "rs.example.com", `{"spec":{"names":{"shortNames":["r"]}}}`), "")
	refused(t, "webhooks", w.create(gvr.ValidatingWebhooks, "bob", webhooks("wasm://a", "https://b/")), "")
	refused(t, "another webhook", w.patch(gvr.ValidatingWebhooks, "bob", "hooks", webhooks("wasm://a", "wasm://b")), "webhooks[1].clientConfig.url: "+no)
	refused(t, "who may nothing", w.create(gvr.Priorities, "carol", order("c", "a")), `User "carol" cannot use`)
	refused(t, "who changes the rest", w.patch(gvr.Priorities, "carol", "a", `{"metadata":{"labels":{"a":"b"}}}`), "")
	refused(t, "who refers to none", w.patch(gvr.ValidatingWebhooks, "carol", "hooks", webhooks("https://c/")), "")
}

func module(name, grants string) string {
	return `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"` + name + `"},"spec":{"source":{"upload":{}},"grants":[` + grants + `]}}`
}

func TestGuard_WhoGrantsMayRead(t *testing.T) {
	w := newWorld(t)
	const open, closed = `{"resource":"configmaps","namespace":"open","names":["a","*"]}`, `{"group":"apps","resource":"deployments","namespace":"closed","names":["d"]}`
	refused(t, "what bob may read", w.create(gvr.Modules, "bob", module("m", open+`,{"resource":"namespaces","names":["open"]}`)), "")
	refused(t, "what bob may not", w.create(gvr.Modules, "bob", module("n", open+","+closed)), `spec.grants[1]: User "bob" cannot get resource "deployments" in API group "apps" in the namespace "closed"`)
	refused(t, "all namespaces", w.create(gvr.Modules, "bob", module("n", `{"resource":"configmaps","namespace":"*","names":["a"]}`)), `spec.grants[0]: User "bob" cannot get resource "configmaps" in API group "" at the cluster scope`)
	refused(t, "all names", w.create(gvr.Modules, "bob", module("n", `{"resource":"namespaces","names":["*"]}`)), `spec.grants[0]: User "bob" cannot get resource "namespaces"`)
	refused(t, "what it had stays", w.patch(gvr.Modules, "carol", "m", `{"metadata":{"labels":{"a":"b"}},"spec":{"grants":[`+open+`]}}`), "")
	refused(t, "more of it", w.patch(gvr.Modules, "carol", "m", `{"spec":{"grants":[{"resource":"configmaps","namespace":"other","names":["a"]}]}}`), `User "carol" cannot get`)
	refused(t, "none", w.patch(gvr.Modules, "carol", "m", `{"spec":{"grants":null}}`), "")
}

func TestGuard_WhoSendsAModuleMoreMayUseIt(t *testing.T) {
	w := newWorld(t)
	const no = `User "carol" cannot use resource "wasmmodules"`
	refused(t, "an order", w.create(gvr.Priorities, "bob", order("a", "a")), "")
	refused(t, "another group", w.patch(gvr.Priorities, "carol", "a", `{"spec":{"groups":["example.com","example.org"]}}`), "spec.module: "+no)
	refused(t, "another group by who may", w.patch(gvr.Priorities, "bob", "a", `{"spec":{"groups":["example.com","example.org"]}}`), "")
	refused(t, "fewer groups", w.patch(gvr.Priorities, "carol", "a", `{"spec":{"groups":["example.org"]}}`), "")

	const pods = `{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"],"scope":"*"}`
	const secrets = `{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["secrets"],"scope":"*"}`
	hook := func(rules, more string) string {
		return strings.Replace(webhooks("wasm://a"), `"sideEffects"`, `"rules":[`+rules+`],`+more+`"sideEffects"`, 1)
	}
	const some = `"namespaceSelector":{"matchLabels":{"a":"b"}},`
	refused(t, "webhooks", w.create(gvr.ValidatingWebhooks, "bob", hook(pods, some)), "")
	for what, c := range map[string]struct{ body, text string }{
		"the same":             {hook(pods, some), ""},
		"how failures count":   {hook(pods, some+`"failurePolicy":"Ignore",`), ""},
		"another rule":         {hook(pods+","+secrets, some), no},
		"more operations":      {hook(strings.Replace(pods, `"CREATE"`, `"CREATE","UPDATE"`, 1), some), no},
		"all namespaces":       {hook(pods, ""), no},
		"other namespaces":     {hook(pods, strings.Replace(some, `"b"`, `"c"`, 1)), no},
		"a label or another":   {hook(pods, `"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b","c"]}]},`), no},
		"any value":            {hook(pods, `"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]},`), no},
		"the same as a term":   {hook(pods, `"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]},`), ""},
		"fewer objects":        {hook(pods, some+`"objectSelector":{"matchLabels":{"a":"b"}},`), ""},
		"objects elsewhere":    {hook(pods, strings.Replace(some, "namespaceSelector", "objectSelector", 1)), no},
		"fewer requests":       {hook(pods, some+`"matchConditions":[{"name":"a","expression":"true"}],`), ""},
		"equivalent ones only": {hook(pods, some+`"matchPolicy":"Exact",`), ""},
		"fewer scopes":         {hook(strings.Replace(pods, `"scope":"*"`, `"scope":"Namespaced"`, 1), some), ""},
		"all resources":        {hook(strings.Replace(pods, `"pods"`, `"*"`, 1), some), no},
	} {
		refused(t, what, w.patch(gvr.ValidatingWebhooks, "carol", "hooks", c.body), c.text)
		refused(t, "as it was after "+what, w.patch(gvr.ValidatingWebhooks, "bob", "hooks", hook(pods, some)), "")
	}
	refused(t, "another rule by who may", w.patch(gvr.ValidatingWebhooks, "bob", "hooks", hook(pods+","+secrets, some)), "")
	refused(t, "fewer rules", w.patch(gvr.ValidatingWebhooks, "carol", "hooks", hook(secrets, some)), "")
}

func TestGuard_WhoSetsHighLimitsMayExceedThem(t *testing.T) {
	w := newWorld(t)
	with := func(name, limits string) string {
		return strings.Replace(module(name, ""), `"grants":[]`, `"limits":{`+limits+`}`, 1)
	}
	const no = `User "carol" cannot exceed resource "wasmmodules" in API group "wasmgate.dev" at the cluster scope`
	refused(t, "what is usual", w.create(gvr.Modules, "carol", with("m", `"memory":"64Mi","timeout":"2s","responseSize":"32Mi","fuel":9000000000`)), "")
	for field, value := range map[string]string{"memory": "65Mi", "timeout": "2001ms", "responseSize": "33Mi"} {
		refused(t, field, w.create(gvr.Modules, "carol", with("n", `"`+field+`":"`+value+`"`)), "spec.limits."+field+": "+no)
		refused(t, field+" later", w.patch(gvr.Modules, "carol", "m", `{"spec":{"limits":{"`+field+`":"`+value+`"}}}`), "spec.limits."+field+": "+no)
	}
	refused(t, "who may", w.create(gvr.Modules, "bob", with("a", `"memory":"512Mi"`)), "")
	refused(t, "who may, another module", w.create(gvr.Modules, "bob", with("b", `"memory":"512Mi"`)), `User "bob" cannot exceed`)
	refused(t, "what it had stays", w.patch(gvr.Modules, "carol", "a", `{"metadata":{"labels":{"a":"b"}}}`), "")
	refused(t, "less", w.patch(gvr.Modules, "carol", "a", `{"spec":{"limits":{"memory":"256Mi"}}}`), "")
	refused(t, "and back", w.patch(gvr.Modules, "carol", "a", `{"spec":{"limits":{"memory":"512Mi"}}}`), no)
}

// Who may not read a Secret does not have a module show it to a registry, nor show that one
// for another repository: what came would be the writer's. Another tag is as it was.
func TestSecretsOfRegistriesAreTheirReaders(t *testing.T) {
	w := newWorld(t)
	from := func(name, image, namespace string) string {
		secret := ""
		if namespace != "" {
			secret = `,"pullSecret":{"namespace":"` + namespace + `","name":"login"}`
		}
		return `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"` + name + `"},"spec":{"source":{"oci":{"image":"` + image + `"` + secret + `}}}}`
	}
	const closed = `spec.source.oci.pullSecret: User "bob" cannot get resource "secrets" in API group "" in the namespace "closed"`
	refused(t, "somebody's", w.create(gvr.Modules, "bob", from("one", "r.example.com/a:v1", "closed")), closed)
	refused(t, "one's own", w.create(gvr.Modules, "bob", from("two", "r.example.com/a:v1", "open")), "")
	refused(t, "none", w.create(gvr.Modules, "bob", from("three", "r.example.com/a:v1", "")), "")
	refused(t, "somebody else's two", w.patch(gvr.Modules, "amy", "two", from("two", "r.example.com:5000/a/b:v1", "open")), `User "amy" cannot get resource "secrets"`)
	refused(t, "another one", w.patch(gvr.Modules, "bob", "two", `{"spec":{"source":{"oci":{"pullSecret":{"namespace":"closed"}}}}}`), closed)
	for image, text := range map[string]string{
		"r.example.com/a:v2": "", "r.example.com/a@sha256:" + strings.Repeat("a", 64): "",
		"r.example.com/b:v1": `User "amy" cannot get resource "secrets"`, "other.example.com/a:v1": `User "amy" cannot get resource "secrets"`,
	} {
		refused(t, image, w.patch(gvr.Modules, "amy", "two", `{"spec":{"source":{"oci":{"image":"`+image+`"}}}}`), text)
	}
}

// digestOf is a digest that is made of one digit.
func digestOf(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// stored has the content a, and cannot say of b.
func stored(_ context.Context, digest string) (int, func(context.Context, io.Writer) error, error) {
	switch digest {
	case digestOf("a"):
		return 1, nil, nil
	case digestOf("b"):
		return 0, nil, &storage.Error{Kind: storage.Unavailable}
	}
	return 0, nil, &storage.Error{Kind: storage.NotFound}
}

// Content that is stored is its readers': who knows its digest, which any viewer of another
// module sees, does not make it a module's that is theirs.
func TestGuard_WhoNamesContentMayGetIt(t *testing.T) {
	w := newWorld(t)
	of := func(name, digest string) string {
		return `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"` + name + `","annotations":{"wasmgate.dev/content-digest":"` + digest + `"}},"spec":{"source":{"upload":{}}}}`
	}
	const no = `User "bob" cannot get resource "wasmmodules/content"`
	refused(t, "another's, from the start", w.create(gvr.Modules, "bob", of("one", digestOf("a"))), no)
	refused(t, "of which nobody can say whose", w.create(gvr.Modules, "bob", of("one", digestOf("b"))), no)
	refused(t, "what is to come", w.create(gvr.Modules, "bob", of("two", digestOf("c"))), "")
	refused(t, "another's", w.patch(gvr.Modules, "bob", "two", of("two", digestOf("a"))), no)
	pinned := func(digest string) string { return `{"spec":{"source":{"upload":{"digest":"` + digest + `"}}}}` }
	refused(t, "another's alone", w.patch(gvr.Modules, "bob", "two", pinned(digestOf("a"))), no)
	refused(t, "its own alone", w.patch(gvr.Modules, "bob", "two", pinned(digestOf("c"))), "")
	_, err := w.Patch(modules.Uploading(t.Context(), digestOf("a")), w.target(gvr.Modules, "two"), types.MergePatchType, []byte(of("two", digestOf("a"))), by("bob"))
	refused(t, "what came with the request", err, "")
	refused(t, "something else, afterwards", w.patch(gvr.Modules, "bob", "two", `{"metadata":{"labels":{"a":"b"}}}`), "")
}

// unread is an update of a module whose present state cannot be read.
type unread struct{ admission.Attributes }

func (unread) GetResource() schema.GroupVersionResource { return gvr.Modules.WithVersion("v1") }
func (unread) GetSubresource() string                   { return "" }
func (unread) IsOwn() bool                              { return false }
func (unread) GetObject() *unstructured.Unstructured    { return &unstructured.Unstructured{} }
func (unread) GetOldObject(context.Context) (*unstructured.Unstructured, error) {
	return nil, errUnread
}

var errUnread = errors.New("the present state does not convert")

// What was permitted before is not known of what cannot be read, so nothing is permitted.
func TestGuard_WhatCannotBeReadIsNotPermitted(t *testing.T) {
	if err := (permission.Guard{May: authority{}}).Validate(t.Context(), unread{}); !errors.Is(err, errUnread) {
		t.Error(err)
	}
}
