package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/wasmgate/wasmgate/test/harness"
)

// kubectl on both ways of applying, and the way between them.
func TestKubectlAppliesOnTheServer_SSA10_SSA31_SSA32(t *testing.T) {
	t.Parallel()
	k := newKubectl(t)
	object := k.plural + "/one"
	contains(t, k.must("apply", "--server-side", "-f", k.manifest("one", "spec: {host: a, replicas: 1}")), "one serverside-applied")
	contains(t, k.must("apply", "--server-side", "-f", "one.yaml"), "one serverside-applied")
	if out := k.must("get", object, "-o", "yaml"); strings.Contains(out, "managedFields") {
		t.Errorf("kubectl shows managedFields unasked:\n%s", out)
	}
	contains(t, k.must("get", object, "-o", "yaml", "--show-managed-fields"), "manager: kubectl", "operation: Apply", "f:host: {}")
	contains(t, k.fail("apply", "--server-side", "--field-manager=other", "-f", k.manifest("one", "spec: {host: b}")),
		`conflict with "kubectl": .spec.host`, "--force-conflicts")
	contains(t, k.must("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "one.yaml"), "one serverside-applied")
	contains(t, k.must("apply", "--server-side", "--dry-run=server", "--field-manager=other", "-f", k.manifest("one", "spec: {host: dry}")), "server dry run")
	changes, _, err := k.k.Run("-n", k.ns, "diff", "--server-side", "--field-manager=other", "-f", "one.yaml")
	if contains(t, changes, "-  host: b", "+  host: dry"); err == nil {
		t.Error("kubectl diff tells no difference")
	}
	k.must("diff", "--server-side", "--field-manager=other", "-f", k.manifest("one", "spec: {host: b}"))
	if got := k.must("get", object, "-o", "jsonpath={.spec.host} {.spec.replicas}"); got != "b 1" {
		t.Errorf("host and replicas are %q", got)
	}

	// From applying on the client, and back.
	k.must("apply", "-f", k.manifest("two", "spec: {host: a, replicas: 1, port: '1'}"))
	contains(t, k.must("apply", "--server-side", "-f", k.manifest("two", "spec: {host: c, replicas: 1}")), "two serverside-applied")
	if got := k.must("get", k.plural+"/two", "-o", "jsonpath={.spec}"); got != `{"host":"c","replicas":1,"suspend":false}` {
		t.Errorf("a field that the configuration has no more: %s", got)
	}
	k.must("patch", k.plural+"/two", "--type=merge", "-p", `{"spec":{"replicas":7}}`, "--field-manager=scaler")
	contains(t, k.fail("apply", "--server-side", "-f", "two.yaml"), `conflict with "scaler"`, ".spec.replicas")
	contains(t, k.must("apply", "-f", k.manifest("two", "spec: {host: d}")), "two configured")
	if got := k.must("get", k.plural+"/two", "-o", "jsonpath={.spec.host}"); got != "d" {
		t.Errorf("applied on the client again: host %q", got)
	}

	contains(t, k.must("create", "configmap", "three", "--from-literal=a=1"), "configmap/three created")
	contains(t, k.must("label", "configmap/three", "x=y", "--field-manager=labeller"), "labeled")
	contains(t, k.must("get", "configmap/three", "-o", "yaml", "--show-managed-fields"), "manager: kubectl-create", "manager: labeller", "f:x: {}")
}

// The typed and the dynamic client apply; what they extract is what they own.
func TestApplyConfigurations_SSA04_SSA11(t *testing.T) {
	t.Parallel()
	s := harness.Shared(t)
	ns := namespace(t, s.API(t))
	ctx := context.Background()
	client, err := kubernetes.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	maps := client.CoreV1().ConfigMaps(ns)
	one := metav1.ApplyOptions{FieldManager: "one"}
	if _, err := maps.Apply(ctx, corev1.ConfigMap("c", ns).WithData(map[string]string{"a": "1", "b": "1"}).WithLabels(map[string]string{"l": "1"}), one); err != nil {
		t.Fatal(err)
	}
	there, err := maps.Apply(ctx, corev1.ConfigMap("c", ns).WithData(map[string]string{"c": "1"}), metav1.ApplyOptions{FieldManager: "two"})
	if err != nil || len(there.Data) != 3 {
		t.Fatalf("%v, %v", there, err)
	}
	mine, err := corev1.ExtractConfigMap(there, "one")
	if err != nil || len(mine.Data) != 2 || mine.Labels["l"] != "1" || len(mine.Annotations) != 0 {
		t.Errorf("extracted %+v, %v", mine, err)
	}
	if there, err = maps.Apply(ctx, corev1.ConfigMap("c", ns).WithData(map[string]string{"b": "2"}), one); err != nil || fmt.Sprint(there.Data) != "map[b:2 c:1]" || len(there.Labels) != 0 {
		t.Errorf("what is not applied any more: %v, %v", there, err)
	}
	_, err = maps.Apply(ctx, corev1.ConfigMap("c", ns).WithData(map[string]string{"c": "2"}), one)
	if causes, ok := err.(apierrors.APIStatus); !ok || !apierrors.IsConflict(err) || len(causes.Status().Details.Causes) != 1 || causes.Status().Details.Causes[0].Field != ".data.c" {
		t.Errorf("a conflict: %v", err)
	}

	// Who updated takes to applying, as client-go does it.
	there.Data["b"] = "3"
	updated, err := maps.Update(ctx, there, metav1.UpdateOptions{FieldManager: "csa"})
	if err != nil {
		t.Fatal(err)
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(updated, sets.New("csa"), "csa")
	if err != nil {
		t.Fatal(err)
	}
	if updated, err = maps.Patch(ctx, "c", "application/json-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if m := updated.ManagedFields; len(m) != 2 || m[0].Operation != metav1.ManagedFieldsOperationApply || m[1].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("after the upgrade: %v", m)
	}
	if updated, err = maps.Apply(ctx, corev1.ConfigMap("c", ns), metav1.ApplyOptions{FieldManager: "csa"}); err != nil || fmt.Sprint(updated.Data) != "map[c:1]" {
		t.Errorf("it owned b: %v, %v", updated, err)
	}
}

// Two controllers and a person, at two versions that a converter connects:
// owners keep what is theirs at either.
func TestOwnersAtConvertedVersions_SSA26(t *testing.T) {
	t.Parallel()
	s := harness.Shared(t)
	kinds := map[string]func(t *testing.T) *cronTabs{
		"by a webhook": func(t *testing.T) *cronTabs { return newWebhookCronTabs(t, s, harness.NewWebhook(t)) },
	}
	if !s.External {
		kinds["by a module"] = func(t *testing.T) *cronTabs { return newWasmCronTabs(t, s, appliedModule(t, s)) }
	}
	for name, make := range kinds {
		t.Run(name, func(t *testing.T) { fight(t, s, make(t)) })
	}
}

func appliedModule(t *testing.T, s *harness.Server) string {
	t.Helper()
	name := "apply-" + unique()
	pushModule(t, s.API(t), name, harness.Module(t, crontabModule))
	return name
}

func fight(t *testing.T, s *harness.Server, c *cronTabs) {
	t.Helper()
	client, err := dynamic.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	apply := func(version, manager, fields string, force bool) (*unstructured.Unstructured, error) {
		t.Helper()
		o := &unstructured.Unstructured{Object: parse(t, `{"apiVersion":"`+c.group+`/`+version+`","kind":"CronTab","metadata":{"name":"one"},`+fields+`}`)}
		gvr := schema.GroupVersionResource{Group: c.group, Version: version, Resource: "crontabs"}
		return client.Resource(gvr).Namespace(c.ns).Apply(context.Background(), "one", o, metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	must := func(version, manager, fields string, force bool) *unstructured.Unstructured {
		t.Helper()
		o, err := apply(version, manager, fields, force)
		if err != nil {
			t.Fatalf("%s applies %s at %s: %v", manager, fields, version, err)
		}
		return o
	}
	conflict := func(version, manager, fields, with string) {
		t.Helper()
		if _, err := apply(version, manager, fields, false); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), with) {
			t.Errorf("%s applies %s at %s: %v, want a conflict with %s", manager, fields, version, err, with)
		}
	}
	// The old controller speaks v1beta1, the new one v1.
	must("v1beta1", "old", `"hostPort":"a:1"`, false)
	conflict("v1", "new", `"host":"b","port":"1"`, `conflict with "old": .hostPort`)
	must("v1", "new", `"host":"a","port":"1"`, false) // the same: both own it
	conflict("v1beta1", "old", `"hostPort":"a:2"`, `"new"`)
	o := must("v1", "new", `"host":"c","port":"3"`, true)
	for _, m := range o.GetManagedFields() {
		if m.Manager == "old" {
			t.Errorf("the old controller still owns %s", m.FieldsV1)
		}
	}
	// A person edits at the old version; the new controller meets a conflict at
	// its own, and takes back what is its.
	c.api.Do("PATCH", c.path("v1beta1", "one")+"?fieldManager=person", `{"hostPort":"c:4"}`, "Content-Type", "application/merge-patch+json").Want(200)
	conflict("v1", "new", `"host":"c","port":"3"`, `conflict with "person" using `+c.group+`/v1beta1: .hostPort`)
	must("v1", "new", `"host":"c","port":"3"`, true)
	c.api.Get(c.path("v1beta1", "one")).Want(200).Equal("hostPort", "c:3")
	// The manager of the old version goes on at the new one.
	must("v1beta1", "old", `"hostPort":"c:3"`, false)
	must("v1", "old", `"host":"c"`, false)
	o = must("v1", "new", `"port":"3"`, false)
	if got, _, _ := unstructured.NestedString(o.Object, "host"); got != "c" {
		t.Errorf("host is %q, which the old controller applies", got)
	}
}

// What an embedded resource says of itself is validated, also where the object has
// owners at another version, at which it is looked at first.
func TestApplyOfAnEmbeddedResource_SSA26(t *testing.T) {
	t.Parallel()
	c := newCronTabs(t, harness.Shared(t), func(crd object) {
		for _, v := range crd.At("spec.versions").([]any) {
			object(v.(map[string]any)).Set("schema.openAPIV3Schema.properties.pod", map[string]any{"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true})
		}
	})
	apply := func(version, manager, pod string) *harness.Reply {
		return c.api.Do("PATCH", c.path(version, "one")+"?fieldManager="+manager, `{"apiVersion":"`+c.group+"/"+version+`","kind":"CronTab","metadata":{"name":"one"}`+pod+`}`, "Content-Type", "application/apply-patch+yaml")
	}
	pod := func(meta string) string {
		return `,"pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"` + meta + `}}`
	}
	apply("v1beta1", "a", pod("")).Want(201)
	apply("v1", "b", `,"host":"h","port":"1"`).Want(200)
	for _, version := range []string{"v1", "v1beta1"} {
		apply(version, "a", pod(`,"creationTimestamp":"never"`)).WantStatus(422, "Invalid", `pod.metadata: Invalid value: {"creationTimestamp":"never","name":"x"}: parsing time "never"`)
	}
	apply("v1beta1", "a", pod(`,"labels":{"l":"m"}`)).Want(200).Equal("pod.metadata.labels.l", "m")
}

// A Scale can be applied, whoever owned the replicas.
func TestApplyOfAScale_SSA33(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t) // kube-apiserver 1.36 fails on some of these
	c := newCronTabs(t, harness.Shared(t), func(crd object) {
		for _, v := range crd.At("spec.versions").([]any) {
			object(v.(map[string]any)).Set("subresources", map[string]any{"status": map[string]any{}, "scale": map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.active"}})
		}
	})
	c.create("one")
	path := c.path("v1", "one")
	scale := func(manager string, replicas int, more string) *harness.Reply {
		return c.api.Do("PATCH", path+"/scale?fieldManager="+manager+more,
			fmt.Sprintf(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"one"},"spec":{"replicas":%d}}`, replicas), "Content-Type", "application/apply-patch+yaml")
	}
	scale("keda", 3, "").Want(200).Equal("kind", "Scale").Equal("spec.replicas", "3")
	scale("hpa", 4, "").WantStatus(409, "Conflict", `conflict with "keda" with subresource "scale"`, ".spec.replicas")
	scale("hpa", 4, "&force=true").Want(200).Equal("spec.replicas", "4")
	c.api.Do("PATCH", path+"?fieldManager=whole", `{"apiVersion":"`+c.group+`/v1","kind":"CronTab","metadata":{"name":"one"},"spec":{"replicas":5}}`, "Content-Type", "application/apply-patch+yaml").
		WantStatus(409, "Conflict", `conflict with "hpa" with subresource "scale"`)
	c.api.Do("PATCH", path+"/scale?fieldManager=x", `{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":"many"}}`, "Content-Type", "application/apply-patch+yaml").WantStatus(500, "", ".spec.replicas: expected numeric")
	c.api.Do("PATCH", path+"/scale?fieldManager=x", `{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replica":1}}`, "Content-Type", "application/apply-patch+yaml").WantStatus(500, "", ".spec.replica: field not declared in schema")
	c.api.Do("PATCH", path+"/scale?fieldManager=x", `{"apiVersion":"apps/v1","kind":"Scale","spec":{"replicas":1}}`, "Content-Type", "application/apply-patch+yaml").WantStatus(400, "BadRequest")
	c.api.Do("PATCH", path+"/scale?fieldManager=x", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"resourceVersion":"1"},"spec":{"replicas":4}}`, "Content-Type", "application/apply-patch+yaml").WantStatus(409, "Conflict")
	// As kube-apiserver has it, an owner of a scale has no time, and so comes
	// before the others.
	entry := object(c.api.Get(path).Want(200).Equal("spec.replicas", "4").Object().At("metadata.managedFields").([]any)[0].(map[string]any))
	if entry["subresource"] != "scale" || entry["manager"] != "hpa" || entry["time"] != nil {
		t.Errorf("the owner of the scale: %v", entry)
	}
}
