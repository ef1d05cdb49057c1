package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

const hooksPath = "/apis/admissionregistration.k8s.io/v1/"

// admitted is a server, a namespace of the test's own and a webhook that may be
// asked about what is written there.
type admitted struct {
	t   *testing.T
	api *harness.API
	ns  string
	*harness.Admission
}

func newAdmitted(t *testing.T) *admitted {
	t.Helper()
	api := harness.Shared(t).API(t)
	return &admitted{t, api, namespace(t, api), harness.NewAdmission(t)}
}

// hook is a webhook, called at a path, about all writes of ConfigMaps in the
// test's namespace. edit changes its fields (JSON).
func (a *admitted) hook(path string, edit ...string) object {
	a.t.Helper()
	h := parse(a.t, `{"name":"`+path+`.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
		"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}],
		"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"`+a.ns+`"}}}`)
	h["clientConfig"] = a.Client(path)
	for _, e := range edit {
		maps.Copy(h, parse(a.t, e))
	}
	return h
}

// validating and mutating install webhooks, and wait until they are in force.
func (a *admitted) validating(hooks ...object) { a.install("Validating", hooks) }
func (a *admitted) mutating(hooks ...object)   { a.install("Mutating", hooks) }

func (a *admitted) install(kind string, hooks []object) {
	a.t.Helper()
	collection := hooksPath + strings.ToLower(kind) + "webhookconfigurations"
	add := func(name string, hooks ...object) {
		a.t.Helper()
		a.api.Post(collection, object{"metadata": map[string]any{"name": name}, "webhooks": hooks}).Want(201)
		a.t.Cleanup(func() { _, _ = a.api.Try("DELETE", collection+"/"+name, nil) })
	}
	id := unique()
	add("e2e-"+id, hooks...)
	// Who knows of this one, knows of those before.
	add("e2e-"+id+"-probe", a.hook("probe", `{"namespaceSelector":{},"objectSelector":{"matchLabels":{"probe":"`+id+`"}}}`))
	probe := configMap(a.t, "default", "probe-"+id, `{}`).Set("metadata.labels.probe", id)
	harness.Eventually(a.t, "the webhooks", func() bool {
		a.api.Post(configMaps("default")+"?dryRun=All", probe).Want(201)
		return slices.ContainsFunc(a.Calls(), func(r harness.Review) bool { return r.Path == "probe" })
	})
}

// create tries to create a ConfigMap.
func (a *admitted) create(name string, edit ...string) *harness.Reply {
	a.t.Helper()
	cm := configMap(a.t, a.ns, name, `{"k":"v"}`)
	for _, e := range edit {
		maps.Copy(cm, parse(a.t, e))
	}
	return a.api.Post(configMaps(a.ns), cm)
}

// called are the paths that the webhook was called at since the last time.
func (a *admitted) called() string {
	var paths []string
	for _, c := range a.Calls() {
		paths = append(paths, c.Path)
	}
	return strings.Join(paths, " ")
}

// wantCalled fails the test unless exactly these were called, in this order.
func (a *admitted) wantCalled(want string) {
	a.t.Helper()
	if got := a.called(); got != want {
		a.t.Errorf("called %q, want %q", got, want)
	}
}
