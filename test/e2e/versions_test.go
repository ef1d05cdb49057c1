package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// removedVersions are the versions that releases of Kubernetes took away, with
// the resources that they had and the version that has them now, if any.
var removedVersions = []struct{ old, resources, now string }{
	{"flowcontrol.apiserver.k8s.io/v1beta3", "flowschemas prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io/v1"},
	{"flowcontrol.apiserver.k8s.io/v1beta2", "flowschemas prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io/v1"},
	{"flowcontrol.apiserver.k8s.io/v1beta1", "flowschemas prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io/v1"},
	{"storage.k8s.io/v1beta1", "csistoragecapacities csidrivers csinodes storageclasses volumeattachments", "storage.k8s.io/v1"},
	{"autoscaling/v2beta2", "horizontalpodautoscalers", "autoscaling/v2"},
	{"autoscaling/v2beta1", "horizontalpodautoscalers", "autoscaling/v2"},
	{"batch/v1beta1", "cronjobs", "batch/v1"},
	{"discovery.k8s.io/v1beta1", "endpointslices", "discovery.k8s.io/v1"},
	{"events.k8s.io/v1beta1", "events", "events.k8s.io/v1"},
	{"policy/v1beta1", "poddisruptionbudgets", "policy/v1"},
	{"policy/v1beta1", "podsecuritypolicies", ""},
	{"node.k8s.io/v1beta1", "runtimeclasses", "node.k8s.io/v1"},
	{"admissionregistration.k8s.io/v1beta1", "mutatingwebhookconfigurations validatingwebhookconfigurations", "admissionregistration.k8s.io/v1"},
	{"apiextensions.k8s.io/v1beta1", "customresourcedefinitions", "apiextensions.k8s.io/v1"},
	{"apiregistration.k8s.io/v1beta1", "apiservices", ""},
	{"authentication.k8s.io/v1beta1", "tokenreviews", "authentication.k8s.io/v1"},
	{"authorization.k8s.io/v1beta1", "localsubjectaccessreviews selfsubjectaccessreviews subjectaccessreviews selfsubjectrulesreviews", "authorization.k8s.io/v1"},
	{"certificates.k8s.io/v1beta1", "certificatesigningrequests", "certificates.k8s.io/v1"},
	{"coordination.k8s.io/v1beta1", "leases", "coordination.k8s.io/v1"},
	{"extensions/v1beta1", "ingresses", "networking.k8s.io/v1"},
	{"extensions/v1beta1", "networkpolicies", "networking.k8s.io/v1"},
	{"extensions/v1beta1", "daemonsets deployments replicasets", "apps/v1"},
	{"extensions/v1beta1", "podsecuritypolicies", ""},
	{"networking.k8s.io/v1beta1", "ingresses ingressclasses", "networking.k8s.io/v1"},
	{"rbac.authorization.k8s.io/v1beta1", "roles rolebindings clusterroles clusterrolebindings", "rbac.authorization.k8s.io/v1"},
	{"scheduling.k8s.io/v1beta1", "priorityclasses", "scheduling.k8s.io/v1"},
	{"apps/v1beta1", "deployments statefulsets", "apps/v1"},
	{"apps/v1beta2", "daemonsets deployments replicasets statefulsets", "apps/v1"},
}

// TestRemovedVersions_MIG01: what Kubernetes has removed is not there, and what
// replaced it is.
func TestRemovedVersions_MIG01(t *testing.T) {
	s := harness.Shared(t)
	api := s.API(t)
	resources := map[string]bool{}
	for _, g := range append(api.Get("/apis").Want(200).Object().At("groups").([]any), map[string]any{}) {
		versions, _ := g.(map[string]any)["versions"].([]any)
		for _, v := range versions {
			gv := v.(map[string]any)["groupVersion"].(string)
			listed := api.Get("/apis/"+gv).Want(200, 404)
			if listed.Code == 404 {
				continue // the definition of another test, which went meanwhile
			}
			for _, r := range listed.Object().At("resources").([]any) {
				resources[gv+" "+r.(map[string]any)["name"].(string)] = true
			}
		}
	}
	for _, v := range removedVersions {
		for plural := range strings.FieldsSeq(v.resources) {
			if resources[v.old+" "+plural] {
				t.Errorf("%s has %s", v.old, plural)
			}
			api.Get("/apis/" + v.old + "/" + plural).Want(404)
			if v.now != "" && !resources[v.now+" "+plural] {
				t.Errorf("%s has no %s", v.now, plural)
			}
		}
	}
}

// TestStoredAtRemovedVersions_MIG01: bytes that were stored at a version which
// is gone, and had the layout of the present one, are read through this.
func TestStoredAtRemovedVersions_MIG01(t *testing.T) {
	s := harness.Shared(t)
	etcd, name := s.Etcd(t), "old-"+unique()
	for _, o := range []struct{ key, path, stored, field, want string }{
		{"/registry/priorityclasses/", "/apis/scheduling.k8s.io/v1/priorityclasses/", `{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PriorityClass","metadata":{"name":"NAME"},"value":7}`, "value", "7"},
		{"/registry/storageclasses/", "/apis/storage.k8s.io/v1/storageclasses/", `{"apiVersion":"storage.k8s.io/v1beta1","kind":"StorageClass","metadata":{"name":"NAME"},"provisioner":"example.com/p"}`, "provisioner", "example.com/p"},
		{"/registry/leases/default/", "/apis/coordination.k8s.io/v1/namespaces/default/leases/", `{"apiVersion":"coordination.k8s.io/v1beta1","kind":"Lease","metadata":{"name":"NAME","namespace":"default"},"spec":{"holderIdentity":"me"}}`, "spec.holderIdentity", "me"},
		{"/registry/poddisruptionbudgets/default/", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/", `{"apiVersion":"policy/v1beta1","kind":"PodDisruptionBudget","metadata":{"name":"NAME","namespace":"default"},"spec":{"minAvailable":2}}`, "spec.minAvailable", "2"},
	} {
		if _, err := etcd.Put(t.Context(), o.key+name, strings.ReplaceAll(o.stored, "NAME", name)); err != nil {
			t.Fatal(err)
		}
		api := s.API(t)
		t.Cleanup(func() { _, _ = api.Try("DELETE", o.path+name, nil) })
		segments := strings.Split(o.path, "/")
		api.Get(o.path+name).Want(200).Equal("apiVersion", segments[2]+"/"+segments[3]).Equal(o.field, o.want)
	}
}

// TestVersionsByChoice serves other versions than those that are by default.
func TestVersionsByChoice(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	log := filepath.Join(t.TempDir(), "audit.log")
	g := harness.Start(t, harness.Options{Args: []string{
		"--runtime-config", "networking.k8s.io/v1beta1,batch/v1=false,storage.k8s.io/v1beta1/volumeattributesclasses,storage.k8s.io/v1beta1/csistoragecapacities",
		"--audit-log-path", log, "--feature-gates", "AllowUnsafeMalformedObjectDeletion=true",
	}})
	const addresses = "/apis/networking.k8s.io/v1beta1/ipaddresses"
	t.Run("VER-03 a version that is off is nowhere", func(t *testing.T) {
		api := g.API(t)
		for _, path := range []string{"/apis/batch", "/apis/batch/v1", "/apis/batch/v1/namespaces/default/jobs", "/apis/batch/v1/cronjobs"} {
			api.Get(path).Want(404)
		}
		if api.Get("/apis").Want(200).Contains(`"batch"`) || api.Get("/openapi/v3").Want(200).Contains("apis/batch/v1") {
			t.Error("batch is in discovery")
		}
		harness.Shared(t).API(t).Get("/apis/batch/v1/cronjobs").Want(200)
	})
	t.Run("VER-02 VER-03 a version that is not stable is off until it is turned on", func(t *testing.T) {
		api := g.API(t)
		harness.Shared(t).API(t).Get(addresses).Want(404)
		api.Get("/apis/networking.k8s.io").Want(200).Equal("preferredVersion.version", "v1").
			Equal("versions.0.version", "v1").Equal("versions.1.version", "v1beta1")
		made := api.Post(addresses, `{"metadata":{"name":"10.0.0.77"},"spec":{"parentRef":{"resource":"services","namespace":"default","name":"s"}}}`).
			Want(201).Equal("apiVersion", "networking.k8s.io/v1beta1").Object()
		api.Get(strings.Replace(addresses, "v1beta1", "v1", 1)+"/10.0.0.77").Want(200).Equal("apiVersion", "networking.k8s.io/v1").Equal("metadata.uid", made.Str("metadata.uid"))
		if r := api.Get(addresses+"/10.0.0.77", "Accept", protobuf).Want(200); !r.Contains("networking.k8s.io/v1beta1") {
			t.Errorf("%q", r.Body)
		}
		api.Merge(addresses+"/10.0.0.77", `{"metadata":{"labels":{"a":"b"}}}`).Want(200).Equal("metadata.labels.a", "b")
		api.Delete(addresses + "/10.0.0.77").Want(200)
	})
	t.Run("VER-04 one resource of a version", func(t *testing.T) {
		api := g.API(t)
		var names []string
		for _, r := range api.Get("/apis/storage.k8s.io/v1beta1").Want(200).Object().At("resources").([]any) {
			names = append(names, r.(map[string]any)["name"].(string))
		}
		if !slices.Equal(names, []string{"volumeattributesclasses"}) {
			t.Errorf("%q", names)
		}
		api.Get("/apis/storage.k8s.io/v1beta1/volumeattributesclasses").Want(200)
		api.Get("/apis/storage.k8s.io/v1beta1/csistoragecapacities").Want(404)
		api.Get("/apis/storage.k8s.io/v1/csistoragecapacities").Want(200)
	})
	t.Run("VER-05 VER-06 VER-07 MIG-04 who uses old versions can be found", func(t *testing.T) {
		deprecated(t, g, log)
	})
	customVersionsByChoice(t, g)
}

// customVersionsByChoice shows the same of custom resources.
func customVersionsByChoice(t *testing.T, g *harness.Gateway) {
	t.Helper()
	c := newCronTabs(t, &g.Server, func(crd object) {
		v := crd.At("spec.versions.0").(map[string]any)
		v["deprecated"], v["deprecationWarning"] = true, "use another"
	})
	c.run("VER-01 VER-05 VER-07 MIG-04 versions of custom resources", func(t *testing.T, c *cronTabs) {
		c.api.Get("/apis/"+c.group).Want(200).Equal("preferredVersion.version", "v1").Equal("versions.1.version", "v1beta1")
		if got := c.api.Get(c.list("v1beta1")).Want(200).Header.Get("Warning"); got != `299 - "use another"` {
			t.Errorf("warned %q", got)
		}
		if got := c.api.Get(c.list("v1")).Want(200).Header.Get("Warning"); got != "" {
			t.Errorf("warned %q", got)
		}
		if n := metric(t, c.api, "apiserver_requested_deprecated_apis", `group="`+c.group+`"`, `version="v1beta1"`, `removed_release=""`); n != 1 {
			t.Errorf("the metric is %v", n)
		}
		if n := metric(t, c.api, "apiserver_requested_deprecated_apis", `group="`+c.group+`"`, `version="v1"`); n != 0 {
			t.Errorf("the metric is %v", n)
		}
	})
	c.run("DEL-07 DEL-08 an object that cannot be read can be deleted", func(t *testing.T, c *cronTabs) {
		for key, path := range map[string]string{c.storageKey("broken"): c.path("v1", "broken"), "/registry/configmaps/" + c.ns + "/broken": configMaps(c.ns) + "/broken"} {
			if _, err := g.Etcd(t).Put(t.Context(), key, "garbage"); err != nil {
				t.Fatal(err)
			}
			c.api.Delete(path).Want(500)
			c.api.Do("DELETE", path, `{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`).Want(200).Equal("status", "Success")
			c.api.Get(path).Want(404)
		}
	})
}

// deprecated asks for a deprecated version and finds that in the reply, in the
// log and in the metrics.
func deprecated(t *testing.T, g *harness.Gateway, log string) {
	api := g.API(t)
	const warning = `299 - "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+"`
	const path = "/apis/networking.k8s.io/v1beta1/servicecidrs"
	r := api.Get(path, "Audit-Id", "4b0f80a7-0000-4000-8000-000000000001").Want(200)
	if got := r.Header.Values("Warning"); !slices.Equal(got, []string{warning}) {
		t.Errorf("warned %q", got)
	}
	api.Get(strings.Replace(path, "v1beta1", "v1", 1), "Audit-Id", "4b0f80a7-0000-4000-8000-000000000002").Want(200)
	labels := []string{`group="networking.k8s.io"`, `version="v1beta1"`, `resource="servicecidrs"`, `subresource=""`}
	if n := metric(t, api, "apiserver_requested_deprecated_apis", append(labels, `removed_release="1.37"`)...); n != 1 {
		t.Errorf("the metric is %v", n)
	}
	if n := metric(t, api, "apiserver_request_total", labels...); n == 0 {
		t.Error("it does not join with the requests")
	}
	if n := metric(t, api, "apiserver_request_duration_seconds_count", labels...); n == 0 {
		t.Error("their time was not measured")
	}
	var events map[string]object
	harness.Eventually(t, "the audit log", func() bool {
		events = readAudit(t, log)
		return events["4b0f80a7-0000-4000-8000-000000000001"] != nil && events["4b0f80a7-0000-4000-8000-000000000002"] != nil
	})
	old, now := events["4b0f80a7-0000-4000-8000-000000000001"], events["4b0f80a7-0000-4000-8000-000000000002"]
	if old.Str("annotations.k8s.io/deprecated") != "true" || old.Str("annotations.k8s.io/removed-release") != "1.37" || old.Str("objectRef.resource") != "servicecidrs" ||
		old.Str("kind") != "Event" || old.Str("level") != "Metadata" || old.Str("verb") != "list" || old.Str("requestURI") != path || old.Str("user.groups.0") != "system:masters" ||
		old.Str("responseStatus.code") != "200" || old.Str("sourceIPs.0") != "127.0.0.1" {
		t.Errorf("%v", old)
	}
	if now.Str("annotations.k8s.io/deprecated") != "" || now.Str("annotations.authorization.k8s.io/decision") != "allow" {
		t.Errorf("%v", now)
	}
}

// readAudit are the events of an audit log by their id.
func readAudit(t *testing.T, log string) map[string]object {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]object{}
	for line := range strings.Lines(string(text)) {
		var e object
		if !strings.HasSuffix(line, "\n") {
			continue // it is being written
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out[e.Str("auditID")] = e
	}
	return out
}
