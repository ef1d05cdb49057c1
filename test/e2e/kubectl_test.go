package e2e

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

// kubectlTest is a namespace and, mostly, a custom resource, seen by kubectl.
type kubectlTest struct {
	*cronTabs
	k *harness.Runner
	// plural names the custom resource with its group.
	plural string
}

func newKubectl(t testing.TB) *kubectlTest {
	t.Helper()
	s := harness.Shared(t)
	c := newCronTabs(t, s, nil)
	k := &kubectlTest{c, s.Kubectl(t), "crontabs." + c.group}
	harness.Eventually(t, "the custom resource is discovered", func() bool {
		_, _, err := k.k.Run("get", k.plural)
		return err == nil
	})
	return k
}

// must runs kubectl in the test's namespace.
func (k *kubectlTest) must(args ...string) string {
	k.t.Helper()
	return k.k.Must(append([]string{"-n", k.ns}, args...)...)
}

func (k *kubectlTest) fail(args ...string) string {
	k.t.Helper()
	return k.k.Fail(append([]string{"-n", k.ns}, args...)...)
}

// manifest writes a CronTab as YAML and returns the file's name.
func (k *kubectlTest) manifest(name, fields string) string {
	k.t.Helper()
	return k.k.File(name+".yaml", "apiVersion: "+k.group+"/v1\nkind: CronTab\nmetadata:\n  name: "+name+"\n  labels: {app: "+name+"}\n"+fields+"\n")
}

func contains(t testing.TB, out string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(out, p) {
			t.Errorf("%q is not in\n%s", p, out)
		}
	}
}

func TestKubectlDiscovers(t *testing.T) {
	t.Parallel()
	k := newKubectl(t)
	contains(t, k.must("api-resources", "--api-group="+k.group), "crontabs", "ct", k.group+"/v1", "true", "CronTab")
	contains(t, k.must("api-resources"), "namespaces", "configmaps", "customresourcedefinitions", "secrets", "leases")
	contains(t, k.must("api-versions"), "v1\n", k.group+"/v1\n", k.group+"/v1beta1\n")
	contains(t, k.must("explain", k.plural), "CronTab", "A CronTab runs something now and then.", "spec\t<Object>")
	contains(t, k.must("explain", k.plural+".spec.host"), "the host to run on", "<string>")
	contains(t, k.must("explain", "configmaps.data"), "FIELD: data", "<map[string]string>")
	contains(t, k.must("explain", "pods.spec.containers"), "FIELD: containers <[]Container>", "name\t<string> -required-", "enum: Always, IfNotPresent, Never", "lifecycle\t<Lifecycle>")
	contains(t, k.must("version"), "Server Version")
	contains(t, k.must("get", "--raw", "/readyz"), "ok")
}

func TestKubectlWrites(t *testing.T) {
	t.Parallel()
	k := newKubectl(t)
	object := k.plural + "/one"

	contains(t, k.must("create", "-f", k.manifest("one", "spec: {host: a, port: '1'}")), "crontab."+k.group+"/one created")
	contains(t, k.fail("create", "-f", "one.yaml"), "AlreadyExists")
	contains(t, k.must("apply", "-f", k.manifest("two", "spec: {host: a}")), "two created")
	contains(t, k.must("apply", "-f", "two.yaml"), "two unchanged")
	contains(t, k.must("apply", "-f", k.manifest("two", "spec: {host: b}")), "two configured")
	contains(t, k.must("apply", "-f", k.manifest("two", "spec: {}")), "two configured")
	if got := k.must("get", k.plural+"/two", "-o", "jsonpath={.spec.host}"); got != "" {
		t.Errorf("apply kept spec.host %q, which the manifest has no more", got)
	}
	contains(t, k.must("replace", "-f", k.manifest("one", "spec: {host: replaced}")), "one replaced")
	contains(t, k.fail("apply", "-f", k.manifest("three", "spec: {replicas: many}")), "spec.replicas", "must be of type integer")
	contains(t, k.fail("create", "-f", k.manifest("three", "spec: {nothing: 1}")), `unknown field "spec.nothing"`)

	contains(t, k.must("patch", object, "--type=merge", "-p", `{"spec":{"port":"9"}}`), "one patched")
	contains(t, k.must("patch", object, "--type=json", "-p", `[{"op":"add","path":"/spec/tags","value":["x"]}]`), "one patched")
	if got := k.must("get", object, "-o", "jsonpath={.spec.host} {.spec.port} {.spec.tags}"); got != `replaced 9 ["x"]` {
		t.Errorf("patched: %q", got)
	}
	contains(t, k.fail("patch", object, "--type=strategic", "-p", `{"spec":{"port":"9"}}`), "application/strategic-merge-patch+json is not supported")
	k.must("patch", object, "--subresource=status", "--type=merge", "-p", `{"status":{"phase":"Ready"}}`)

	contains(t, k.must("label", object, "tier=web"), "one labeled")
	contains(t, k.fail("label", object, "tier=db"), "--overwrite")
	contains(t, k.must("annotate", object, "note=hello"), "one annotated")
	if got := k.must("get", object, "-o", "jsonpath={.metadata.labels.tier} {.metadata.annotations.note} {.status.phase}"); got != "web hello Ready" {
		t.Errorf("labels, annotations and status: %q", got)
	}
	contains(t, k.must("wait", object, "--for=jsonpath={.status.phase}=Ready", "--timeout=30s"), "condition met")
}

func TestKubectlEdits(t *testing.T) {
	t.Parallel()
	k := newKubectl(t)
	k.must("create", "-f", k.manifest("one", "spec: {host: before}"))
	k.must("create", "configmap", "one", "--from-literal=a=before")
	editor := filepath.Join(k.k.Dir, "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i s/before/after/ \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	k.k.Setenv("EDITOR", editor)
	contains(t, k.must("edit", k.plural+"/one"), "one edited")
	contains(t, k.must("edit", "configmap/one"), "one edited")
	if got := k.must("get", k.plural+"/one", "-o", "jsonpath={.spec.host}"); got != "after" {
		t.Errorf("host %q", got)
	}
	if got := k.must("get", "configmap/one", "-o", "jsonpath={.data.a}"); got != "after" {
		t.Errorf("data %q", got)
	}
}

func TestKubectlBuiltins(t *testing.T) {
	t.Parallel()
	s := harness.Shared(t)
	k := &kubectlTest{&cronTabs{t: t, s: s, ns: namespace(t, s.API(t))}, s.Kubectl(t), ""}
	contains(t, k.must("create", "configmap", "one", "--from-literal=a=1"), "configmap/one created")
	contains(t, k.must("patch", "configmap/one", "-p", `{"data":{"b":"2"}}`), "configmap/one patched")
	contains(t, k.must("get", "configmap/one"), "NAME", "DATA", "AGE", "one    2")
	contains(t, k.must("create", "secret", "generic", "one", "--from-literal=password=hunter2"), "secret/one created")
	contains(t, k.must("get", "secret/one"), "Opaque")
	if got := k.must("get", "secret/one", "-o", "jsonpath={.data.password}"); got != "aHVudGVyMg==" {
		t.Errorf("secret data %q", got)
	}
	contains(t, k.must("create", "serviceaccount", "one"), "serviceaccount/one created")
	name := "e2e-kubectl-" + unique()
	contains(t, k.must("create", "namespace", name), "namespace/"+name+" created")
	contains(t, k.must("get", "namespace", name), "Active")
	contains(t, k.must("apply", "--dry-run=server", "-f", k.k.File("cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dry}\n")), "configmap/dry created (server dry run)")
	contains(t, k.fail("get", "configmap/dry"), "not found")
	contains(t, k.must("delete", "namespace", name, "--wait=false"), "deleted")
	contains(t, k.must("apply", "-f", k.k.File("claim.yaml", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: disk}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n")), "created")
	contains(t, k.must("describe", "pvc/disk"), "[kubernetes.io/pvc-protection]")
	contains(t, k.must("delete", "pvc/disk", "--timeout=1m"), "deleted")
	contains(t, k.must("get", "events"))
	_, nothing, err := k.k.Run("get", "pods", "-n", k.ns)
	if err != nil {
		t.Error(err)
	}
	contains(t, nothing, "No resources found in "+k.ns+" namespace")
	contains(t, k.must("cluster-info"), "is running at", s.URL)
	contains(t, k.must("auth", "can-i", "create", "pods"), "yes")
	contains(t, k.must("auth", "whoami"), "system:masters")
	contains(t, k.must("create", "-f", k.k.File("all.yaml", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: l1}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: l2}}\n")), "l1 created", "l2 created")
	contains(t, k.must("delete", "configmap", "--all"), "l1", "l2", "one")
}

// Autoscalers and events are at two versions what they are at one.
func TestKubectlSeesVersionsWithOtherFields_VER09(t *testing.T) {
	t.Parallel()
	s := harness.Shared(t)
	k := &kubectlTest{&cronTabs{t: t, s: s, ns: namespace(t, s.API(t))}, s.Kubectl(t), ""}
	k.must("create", "deployment", "web", "--image=nginx")
	contains(t, k.must("autoscale", "deployment", "web", "--min=2", "--max=5", "--cpu=50%"), "autoscaled")
	if got := k.must("get", "horizontalpodautoscalers.v1.autoscaling", "web", "-o", "jsonpath={.spec.targetCPUUtilizationPercentage}"); got != "50" {
		t.Errorf("the target at v1 is %q", got)
	}
	contains(t, k.must("get", "hpa", "web"), "Deployment/web", "50%")
	contains(t, k.must("create", "-f", k.k.File("event.yaml", `apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: tried}
eventTime: "2026-01-02T03:04:05.000006Z"
reportingController: example.com/tester
reportingInstance: one
action: Try
reason: Tried
type: Warning
note: it was tried
regarding: {apiVersion: apps/v1, kind: Deployment, name: web, namespace: `+k.ns+`}
`)), "created")
	contains(t, k.must("events", "--for", "deployment/web"), "Warning", "Tried", "Deployment/web", "it was tried")
	if got := k.must("get", "events.v1.events.k8s.io", "tried", "-o", "jsonpath={.note}"); got != "it was tried" {
		t.Errorf("its note is %q", got)
	}
}

func TestKubectlReads(t *testing.T) {
	t.Parallel()
	k := newKubectl(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		k.must("create", "-f", k.manifest(name, "spec: {host: host-"+name+", replicas: 3}"))
	}
	table := k.must("get", k.plural)
	contains(t, table, "NAME", "HOST", "host-e")
	if strings.Contains(table, "REPLICAS") {
		t.Errorf("a column for wide tables is in\n%s", table)
	}
	contains(t, k.must("get", k.plural, "-o", "wide"), "REPLICAS", "3")
	contains(t, k.must("get", k.plural+"/a", "-o", "yaml"), "host: host-a", "apiVersion: "+k.group+"/v1")
	contains(t, k.must("get", k.plural+"/a", "-o", "json"), `"host": "host-a"`)
	contains(t, k.must("get", "crontabs.v1beta1."+k.group, "a", "-o", "yaml"), "apiVersion: "+k.group+"/v1beta1")
	contains(t, k.must("get", "crontabs.v1beta1."+k.group), "NAME", "AGE")
	contains(t, k.must("get", k.plural, "-A"), "NAMESPACE", k.ns)
	contains(t, k.must("get", k.plural, "--show-labels"), "app=c")
	contains(t, k.must("get", k.plural, "-L", "app"), "APP")
	contains(t, k.must("describe", k.plural+"/a"), "Host:      host-a", "API Version:  "+k.group+"/v1")
	names := "jsonpath={.items[*].metadata.name}"
	for want, args := range map[string][]string{
		"a b c d e": {"--chunk-size=2"}, "b": {"-l", "app=b"}, "a c d e": {"-l", "app!=b"},
		"b c": {"-l", "app in (b,c)"}, "d": {"--field-selector", "metadata.name=d"},
	} {
		if got := k.must(append([]string{"get", k.plural, "-o", names}, args...)...); got != want {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
	contains(t, k.must("get", k.plural, "--sort-by=.metadata.name", "--no-headers", "-o", "custom-columns=N:.metadata.name,H:.spec.host"), "a", "host-a")
	contains(t, k.fail("get", k.plural+"/zz"), "NotFound", `"zz" not found`)
	contains(t, k.fail("get", "nothings."+k.group), `the server doesn't have a resource type "nothings"`)
}

func TestKubectlWatches(t *testing.T) {
	t.Parallel()
	k := newKubectl(t)
	k.must("create", "-f", k.manifest("one", "spec: {host: first}"))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := k.k.Command(ctx, "-n", k.ns, "get", k.plural, "-w", "--output-watch-events")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	expect := func(parts ...string) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("kubectl get -w ended: %v", lines.Err())
		}
		contains(t, lines.Text(), parts...)
	}
	expect("EVENT", "NAME", "HOST")
	expect("ADDED", "one", "first")
	k.must("patch", k.plural+"/one", "--type=merge", "-p", `{"spec":{"host":"second"}}`)
	expect("MODIFIED", "one", "second")
	k.must("create", "-f", k.manifest("two", "spec: {host: third}"))
	expect("ADDED", "two", "third")
	k.must("delete", k.plural+"/one")
	expect("DELETED", "one", "second")
	cancel()
	_ = cmd.Wait()
}

func TestKubectlDeletes(t *testing.T) {
	t.Parallel()
	k := newKubectl(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		k.must("create", "-f", k.manifest(name, "spec: {}"))
	}
	contains(t, k.must("delete", k.plural, "a"), `"a" deleted`)
	contains(t, k.must("delete", k.plural, "-l", "app=b"), `"b" deleted`)
	contains(t, k.must("delete", "-f", "c.yaml"), `"c" deleted`)
	contains(t, k.must("delete", k.plural, "--all"), `"d" deleted`)
	contains(t, k.fail("delete", k.plural, "a"), "NotFound")
	k.must("delete", k.plural, "a", "--ignore-not-found")
	if got := k.must("get", k.plural, "-o", "name"); got != "" {
		t.Errorf("left: %q", got)
	}
	k.must("delete", "crd", k.plural)
	contains(t, k.fail("get", k.plural), "the server doesn't have a resource type")
}

func TestKubectlDryRuns(t *testing.T) {
	t.Parallel()
	k := newKubectl(t)
	contains(t, k.must("create", "--dry-run=server", "-f", k.manifest("one", "spec: {host: a}")), "one created (server dry run)")
	contains(t, k.fail("get", k.plural+"/one"), "NotFound")
	k.must("apply", "-f", "one.yaml")
	contains(t, k.must("apply", "--dry-run=server", "-f", k.manifest("one", "spec: {host: b}")), "one configured (server dry run)")
	contains(t, k.must("delete", "--dry-run=server", "-f", "one.yaml"), "server dry run")
	out, _, err := k.k.Run("-n", k.ns, "diff", "-f", "one.yaml")
	if err == nil {
		t.Error("diff found no difference")
	}
	contains(t, out, "-  host: a", "+  host: b")
	if out := k.must("diff", "-f", k.manifest("one", "spec: {host: a}")); out != "" {
		t.Errorf("diff of what is there: %s", out)
	}
	if got := k.must("get", k.plural+"/one", "-o", "jsonpath={.spec.host}"); got != "a" {
		t.Errorf("host %q", got)
	}
}
