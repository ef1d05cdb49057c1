package e2e

import (
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestVirtualTypes_RES08 asks questions: they are answered, and that is all
// there ever is of them.
func TestVirtualTypes_RES08(t *testing.T) {
	s := harness.Shared(t)
	api := s.API(t)
	ns := namespace(t, api)
	attributes := object{"verb": "get", "resource": "pods", "namespace": ns}
	for _, r := range []struct {
		path, kind string
		spec       object
		field      string
	}{
		{"/apis/authorization.k8s.io/v1/subjectaccessreviews", "SubjectAccessReview", object{"user": "nobody", "resourceAttributes": attributes}, "status.allowed"},
		{"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "SelfSubjectAccessReview", object{"resourceAttributes": attributes}, "status.allowed"},
		{"/apis/authorization.k8s.io/v1/namespaces/" + ns + "/localsubjectaccessreviews", "LocalSubjectAccessReview", object{"user": "nobody", "resourceAttributes": attributes}, "status.allowed"},
		{"/apis/authentication.k8s.io/v1/selfsubjectreviews", "SelfSubjectReview", nil, "status.userInfo"},
		{"/apis/authentication.k8s.io/v1/tokenreviews", "TokenReview", object{"token": s.Token}, "status.authenticated"},
	} {
		group, _, _ := strings.Cut(strings.TrimPrefix(r.path, "/apis/"), "/")
		made := api.Post(r.path, object{"apiVersion": group + "/v1", "kind": r.kind, "spec": r.spec}).Want(201).Equal("kind", r.kind).Equal("metadata.uid", "").Object()
		if made.Str(r.field) == "" {
			t.Errorf("%s: %v", r.kind, made)
		}
		for _, path := range []string{r.path, r.path + "?watch=1"} {
			api.Get(path).WantStatus(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
		}
		api.Delete(r.path).WantStatus(405, "MethodNotAllowed")
		plural := r.path[strings.LastIndex(r.path, "/")+1:]
		for _, d := range api.Get("/apis/" + group + "/v1").Want(200).Object().At("resources").([]any) {
			if d := object(d.(map[string]any)); d.Str("name") == plural && d.Str("verbs") != `["create"]` {
				t.Errorf("%s offers %s", plural, d.Str("verbs"))
			}
		}
		page, err := s.Etcd(t).Get(t.Context(), "/registry/"+plural, clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil || page.Count != 0 {
			t.Errorf("%d keys of %s are stored, %v", page.Count, plural, err)
		}
	}
	t.Run("RES-08 an eviction is an operation of one pod", func(t *testing.T) {
		api := s.API(t)
		pods := "/api/v1/namespaces/" + ns + "/pods"
		api.Post(pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"terminationGracePeriodSeconds":0}}`).Want(201)
		for _, path := range []string{pods + "/p/eviction", pods + "/p/eviction?watch=1"} {
			api.Get(path).WantStatus(405, "MethodNotAllowed")
		}
		api.Get("/apis/policy/v1/namespaces/" + ns + "/evictions").Want(404)
		api.Post(pods+"/p/eviction?dryRun=All", `{"metadata":{"name":"p"},"deleteOptions":{"preconditions":{"uid":"other"}}}`).WantStatus(409, "Conflict", "UID in the precondition (other)")
		for query, dry := range map[string]string{"?dryRun=All": `{"metadata":{"name":"p"}}`, "": `{"metadata":{"name":"p"},"deleteOptions":{"dryRun":["All"]}}`} {
			api.Post(pods+"/p/eviction"+query, dry).Want(201)
			api.Get(pods + "/p").Want(200)
		}
		api.Post(pods+"/p/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`).Want(201).Equal("kind", "Status").Equal("status", "Success")
		api.Get(pods + "/p").Want(404)
		page, err := s.Etcd(t).Get(t.Context(), "/registry/evictions", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil || page.Count != 0 {
			t.Errorf("an eviction is stored, %v", err)
		}
	})
}

// TestOnlyQuestionsNeedNoNamespace_RES08 asks about a namespace that is not there, which
// is answered, and creates in it an object of the same group, which is refused.
func TestOnlyQuestionsNeedNoNamespace_RES08(t *testing.T) {
	api := harness.Shared(t).API(t)
	const gone, crds, name = "/apis/authorization.k8s.io/v1/namespaces/not-there/", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "gadgets.authorization.k8s.io"
	api.Post(gone+"localsubjectaccessreviews", `{"spec":{"user":"nobody","resourceAttributes":{"verb":"get","resource":"pods","namespace":"not-there"}}}`).Want(201).Equal("status.allowed", "false")
	api.Post(crds, `{"metadata":{"name":"`+name+`","annotations":{"api-approved.kubernetes.io":"https://github.com/kubernetes/kubernetes/pull/1"}},
		"spec":{"group":"authorization.k8s.io","scope":"Namespaced","names":{"plural":"gadgets","singular":"gadget","kind":"Gadget","listKind":"GadgetList"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`).Want(201)
	t.Cleanup(func() { api.Delete(crds + "/" + name) })
	const gadget = `{"apiVersion":"authorization.k8s.io/v1","kind":"Gadget","metadata":{"name":"g"}}`
	api.Eventually(crds+"/"+name, func(r *harness.Reply) bool {
		return strings.Contains(r.Str("status.conditions"), `"type":"Established"`)
	})
	api.Post(gone+"gadgets", gadget).WantStatus(404, "NotFound", `namespaces "not-there" not found`)
	api.Post(strings.Replace(gone, "not-there", namespace(t, api), 1)+"gadgets", gadget).Want(201)
}

// TestReports_RES08 reads a kind whose objects are found out when they are asked
// for, in every form that objects of others have.
func TestReports_RES08(t *testing.T) {
	s := harness.Shared(t)
	api := s.API(t)
	const path = "/api/v1/componentstatuses"
	reply := api.Get(path).Want(200).Equal("kind", "ComponentStatusList")
	if got := reply.Header.Get("Warning"); got != `299 - "v1 ComponentStatus is deprecated in v1.19+"` {
		t.Errorf("the client is warned: %s", got)
	}
	list := reply.Object()
	if meta := list.Str("metadata"); meta != "{}" {
		t.Errorf("the list has the metadata %s", meta)
	}
	names := ""
	for _, item := range list.At("items").([]any) {
		names += object(item.(map[string]any)).Str("metadata.name") + " "
	}
	if names != "controller-manager etcd-0 scheduler " {
		t.Errorf("there are %s", names)
	}
	store := api.Get(path + "/etcd-0").Want(200).Object()
	if store.Str("metadata") != `{"name":"etcd-0"}` || store.Str("conditions") != `[{"message":"ok","status":"True","type":"Healthy"}]` {
		t.Errorf("the store is %v", store)
	}
	api.Get(path+"/etcd-1").WantStatus(404, "NotFound", `componentstatus "etcd-1" not found`)
	api.Get(path+"?watch=1").WantStatus(405, "MethodNotAllowed", `watch is not supported on resources of kind "componentstatuses"`)
	api.Post(path, `{}`).WantStatus(405, "MethodNotAllowed")
	api.Delete(path+"/etcd-0").WantStatus(405, "MethodNotAllowed")
	for query, want := range map[string]int{"fieldSelector=metadata.name%3Detcd-0": 1, "labelSelector=a": 0, "limit=1": 3, "resourceVersion=7": 3} {
		if items, _ := api.Get(path + "?" + query).Want(200).Object().At("items").([]any); len(items) != want {
			t.Errorf("%s: %d components", query, len(items))
		}
	}
	table := api.Get(path+"/etcd-0", "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1").Want(200).Object()
	if rows := table.Str("rows"); !strings.Contains(rows, `"cells":["etcd-0","Healthy","ok",""]`) {
		t.Errorf("the table has the rows %s", rows)
	}
	config, _ := inProtobuf(s)
	typed, err := typedClient(t, config).CoreV1().ComponentStatuses().List(t.Context(), metav1.ListOptions{})
	if err != nil || typed.ResourceVersion != "" || len(typed.Items) != 3 || typed.Items[1].Name != "etcd-0" || typed.Items[1].ResourceVersion != "" || typed.Items[1].Conditions[0].Message != "ok" {
		t.Errorf("in protobuf it is %v, %v", typed, err)
	}
	if out := s.Kubectl(t).Must("get", "cs", "etcd-0", "--no-headers"); strings.Join(strings.Fields(out), " ") != "etcd-0 Healthy ok" {
		t.Errorf("kubectl prints %q", out)
	}
	page, err := s.Etcd(t).Get(t.Context(), "/registry/componentstatuses", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil || page.Count != 0 {
		t.Errorf("%d keys are stored, %v", page.Count, err)
	}
}

// TestConnections_RES06 asks for what only a node's kubelet has.
func TestConnections_RES06(t *testing.T) {
	s := harness.Shared(t)
	c := newCronTabs(t, s, nil)
	pod := "/api/v1/namespaces/" + c.ns + "/pods/p"
	c.api.Post("/api/v1/namespaces/"+c.ns+"/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`).Want(201)
	for _, name := range []string{"exec", "attach", "portforward"} {
		c.api.Get(pod+"/"+name).WantStatus(400, "BadRequest")
		for _, method := range []string{"PUT", "PATCH", "DELETE"} {
			c.api.Do(method, pod+"/"+name, `{}`).WantStatus(405, "MethodNotAllowed")
		}
		c.api.Get(pod + "/" + name + "/more").Want(404)
	}
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		for _, below := range []string{"", "/", "/a/b", "/a?b=c"} {
			c.api.Do(method, pod+"/proxy"+below, `{}`).WantStatus(400, "BadRequest")
		}
	}
	c.api.Get("/api/v1/namespaces/"+c.ns+"/pods/none/proxy/a").WantStatus(404, "NotFound", `pods "none" not found`)
}

// TestGeneratedValues_DRY06 compares what a dry run says with what then comes:
// they differ only in what is made anew each time.
func TestGeneratedValues_DRY06(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	for collection, o := range map[string]object{
		c.list("v1"):     c.object("v1", "", `{"host":"h"}`),
		configMaps(c.ns): configMap(t, c.ns, "", `{"a":"b"}`),
	} {
		delete(o["metadata"].(map[string]any), "name")
		o.Set("metadata.generateName", "some-")
		dry := c.api.Post(collection+"?dryRun=All", o).Want(201).Object()
		real := c.api.Post(collection, o).Want(201).Object()
		for _, field := range []string{"name", "uid"} {
			if a, b := dry.Str("metadata."+field), real.Str("metadata."+field); a == "" || b == "" || a == b {
				t.Errorf("%s is %q and %q", field, a, b)
			}
		}
		for _, made := range []object{dry, real} {
			if !strings.HasPrefix(made.Str("metadata.name"), "some-") || made.Str("metadata.creationTimestamp") == "" {
				t.Errorf("%v", made)
			}
			meta := made["metadata"].(map[string]any)
			for _, field := range []string{"name", "uid", "creationTimestamp", "resourceVersion"} {
				delete(meta, field)
			}
			delete(meta["managedFields"].([]any)[0].(map[string]any), "time")
		}
		if dry.Str("") != real.Str("") {
			t.Errorf("the dry run says %v, made was %v", dry, real)
		}
	}
}

// TestDryRunsAreAuthorized_DRY07: who may not write may not try either.
func TestDryRunsAreAuthorized_DRY07(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.create("one")
	for _, query := range []string{"", "?dryRun=All"} {
		for method, path := range map[string]string{"POST": c.list("v1"), "PUT": c.path("v1", "one"), "PATCH": c.path("v1", "one"), "DELETE": c.path("v1", "one")} {
			kind := map[bool]string{true: mergePatch, false: "application/json"}[method == "PATCH"]
			r := c.api.Do(method, path+query, c.object("v1", "one", `{}`), "Content-Type", kind, "Impersonate-User", "nobody")
			verb := map[string]string{"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[method]
			r.WantStatus(403, "Forbidden", `User "nobody" cannot `+verb+` resource "crontabs" in API group "`+c.group+`" in the namespace "`+c.ns+`"`)
		}
	}
}

// TestARoleForPatchesIsEnoughForDryRuns_DRY07: what allows a patch allows to try it, and
// nothing else.
func TestARoleForPatchesIsEnoughForDryRuns_DRY07(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.create("one")
	user, roles := "patcher-"+unique(), "/apis/rbac.authorization.k8s.io/v1/namespaces/"+c.ns
	ask := func(method, query, body string) *harness.Reply {
		kind := map[bool]string{true: mergePatch, false: "application/json"}[method == "PATCH"]
		return c.api.Do(method, c.path("v1", "one")+query, []byte(body), "Content-Type", kind, "Impersonate-User", user)
	}
	const port = `{"spec":{"port":"7"}}`
	ask("PATCH", "?dryRun=All", port).WantStatus(403, "Forbidden", "cannot patch")
	c.api.Post(roles+"/roles", object{"metadata": object{"name": user},
		"rules": []any{object{"apiGroups": []any{c.group}, "resources": []any{"crontabs"}, "verbs": []any{"patch"}}}}).Want(201)
	c.api.Post(roles+"/rolebindings", object{"metadata": object{"name": user}, "roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user},
		"subjects": []any{object{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}}}).Want(201)
	harness.Eventually(t, "the role counts", func() bool { return ask("PATCH", "?dryRun=All", port).Code != 403 })
	ask("PATCH", "?dryRun=All", port).Want(200).Equal("spec.port", "7")
	ask("GET", "", "").WantStatus(403, "Forbidden", "cannot get")
	ask("DELETE", "?dryRun=All", "").WantStatus(403, "Forbidden", "cannot delete")
	if got := c.api.Get(c.path("v1", "one")).Want(200).Str("spec.port"); got == "7" {
		t.Error("a dry run was a write")
	}
	ask("PATCH", "", port).Want(200).Equal("spec.port", "7")
}

// TestKubectlValidate_FV08: kubectl leaves the check to the server, at the level
// that its flag names.
func TestKubectlValidate_FV08(t *testing.T) {
	s := harness.Shared(t)
	api := s.API(t)
	ns := namespace(t, api)
	k := s.Kubectl(t)
	const problem = `unknown field "nothing"`
	for flag, level := range map[string]string{"": "Strict", "true": "Strict", "strict": "Strict", "warn": "Warn", "ignore": "Ignore", "false": "Ignore"} {
		name := "map-" + unique()
		args := []string{"create", "-n", ns, "-f", "-", "-v", "6"}
		if flag != "" {
			args = append(args, "--validate="+flag)
		}
		out, said, err := k.RunInput("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+"}\nnothing: 1\n", args...)
		if !strings.Contains(said, "fieldValidation="+level) {
			t.Errorf("--validate=%s does not ask for %s: %s", flag, level, said)
		}
		warned := strings.Contains(said, "Warning: "+problem)
		refused := err != nil && strings.Contains(said, "strict decoding error: "+problem)
		if warned != (level == "Warn") || refused != (level == "Strict") || strings.Contains(said, "error validating data") {
			t.Errorf("--validate=%s: %v\n%s%s", flag, err, out, said)
		}
		if there := api.Get(configMaps(ns)+"/"+name).Code == 200; there != (level != "Strict") {
			t.Errorf("--validate=%s: it is there: %v", flag, there)
		}
	}
}
