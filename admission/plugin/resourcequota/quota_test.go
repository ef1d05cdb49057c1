package resourcequota

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

var objects = []struct {
	gr   schema.GroupResource
	text string
}{
	{Pods, `{"spec":{"containers":[{"name":"c"}]}}`},
	{Pods, `{"spec":{"activeDeadlineSeconds":1,"containers":[{"name":"c","resources":{"requests":{"cpu":"250m","memory":"1Gi","example.com/d":"2","hugepages-2Mi":"4Mi"},"limits":{"cpu":"2"}}}]}}`},
	{Pods, `{"spec":{"priorityClassName":"high","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"name":"i","resources":{"requests":{"cpu":"3","ephemeral-storage":"1"}}}]}}`},
	{Pods, `{"spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","namespaces":["x"]}]}},"containers":[{"name":"c"}]}}`},
	{Services, `{"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":1},{"port":2,"nodePort":30000}]}}`},
	{Services, `{"spec":{"type":"NodePort","ports":[{"port":1},{"port":2}]}}`},
	{Claims, `{"spec":{"storageClassName":"gold","volumeAttributesClassName":"fast","resources":{"requests":{"storage":"1500m"}}}}`},
	{Claims, `{"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":"old"}},"spec":{"resources":{"requests":{"storage":"1Gi"}}},"status":{"allocatedResources":{"storage":"2Gi"}}}`},
	{Devices, `{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"gold","allocationMode":"ExactCount","count":2}},{"name":"b","exactly":{"deviceClassName":"tin","allocationMode":"All"}}]}}}`},
	{schema.GroupResource{Resource: "configmaps"}, `{}`},
	{schema.GroupResource{Group: "example.com", Resource: "things"}, `{}`},
}

const plenty = `"pods":"9","count/pods":"9","cpu":"9","requests.cpu":"9","limits.cpu":"9","memory":"9Gi","requests.memory":"9Gi","requests.example.com/d":"9","hugepages-2Mi":"9Mi","requests.ephemeral-storage":"9"`

var quotas = []string{
	`"hard":{` + plenty + `,"services":"9","count/services":"9","services.nodeports":"9","services.loadbalancers":"9"}`,
	`"hard":{"requests.storage":"9Gi","persistentvolumeclaims":"9","gold.storageclass.storage.k8s.io/requests.storage":"9Gi","old.storageclass.storage.k8s.io/persistentvolumeclaims":"9"}`,
	`"hard":{"configmaps":"9","count/configmaps":"9","count/things.example.com":"9","count/events":"9","unknown.example.com/x":"9"}`,
	`"hard":{"count/resourceclaims.resource.k8s.io":"9","gold.deviceclass.resource.k8s.io/devices":"9","tin.deviceclass.resource.k8s.io/devices":"99"}`,
	`"hard":{` + plenty + `},"scopes":["Terminating","NotBestEffort"]`, `"hard":{"pods":"9"},"scopes":["BestEffort"]`, `"hard":{"pods":"9","services":"9","configmaps":"9"},"scopes":["NotTerminating"]`,
	`"hard":{"pods":"9"},"scopes":["CrossNamespacePodAffinity"]`, `"hard":{"pods":"9"},"scopes":["PriorityClass"]`,
	`"hard":{"pods":"9"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["high"]}]}`,
	`"hard":{"requests.storage":"9Gi"},"scopeSelector":{"matchExpressions":[{"scopeName":"VolumeAttributesClass","operator":"In","values":["fast"]}]}`,
}

// An update of a pod counts only if a deadline moves the pod to another scope; what it
// requests is changed by another way.
func TestUpdatesThatCount(t *testing.T) {
	pod := func(spec string) *corev1.Pod {
		t.Helper()
		p := &corev1.Pod{}
		if err := json.Unmarshal([]byte(`{"spec":{`+spec+`}}`), p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	update := func(now, old runtime.Object, subresource string) admission.Attributes {
		return admission.NewAttributesRecord(now, old, schema.GroupVersionKind{}, "ns", "p", Pods.WithVersion("v1"), subresource, admission.Update, nil, false, nil)
	}
	was := pod(`"containers":[{"name":"c"}]`)
	for name, c := range map[string]struct {
		now, old runtime.Object
		want     bool
	}{
		"an image":          {pod(`"containers":[{"name":"c","image":"i"}]`), was, false},
		"a deadline":        {pod(`"activeDeadlineSeconds":1,"containers":[{"name":"c"}]`), was, true},
		"another kind":      {&corev1.Service{}, was, false},
		"from another kind": {pod(`"activeDeadlineSeconds":1`), &corev1.Service{}, false},
	} {
		if got := podKind.Handles(update(c.now, c.old, "")); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !podKind.Handles(update(was, was, "resize")) || podKind.Handles(update(was, was, "status")) {
		t.Error("other subresources count than resize")
	}
}

// Containers that say nothing of what a quota limits are named, each once.
func TestContainersThatSayNothingAreNamed(t *testing.T) {
	var p corev1.Pod
	if err := json.Unmarshal([]byte(`{"spec":{"containers":[{"name":"b"},{"name":"a"},{"name":"c","resources":{"limits":{"cpu":"1"}}}],"initContainers":[{"name":"a"}]}}`), &p); err != nil {
		t.Fatal(err)
	}
	err := podRequires([]corev1.ResourceName{corev1.ResourceLimitsCPU, corev1.ResourceMemory, corev1.ResourcePods}, &p)
	if want := "must specify limits.cpu for: a,b; memory for: a,b,c"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// What a write is charged is what counting finds after it.
func TestChargesAreWhatIsCounted_ADM02(t *testing.T) {
	charged := 0
	for _, text := range quotas {
		var q corev1.ResourceQuota
		if err := json.Unmarshal([]byte(`{"metadata":{"name":"q"},"spec":{`+text+`}}`), &q); err != nil {
			t.Fatal(err)
		}
		var err error
		if q.Status.Used, err = Used(&q, func(schema.GroupResource) (Tally, error) { return Tally{}, nil }); err != nil {
			t.Fatal(err)
		}
		q.Status.Hard = q.Spec.Hard
		for _, o := range objects {
			var tree map[string]any
			if err := json.Unmarshal([]byte(o.text), &tree); err != nil {
				t.Fatal(err)
			}
			it, err := Typed(o.gr, tree)
			if err != nil {
				t.Fatal(err)
			}
			if p, ok := it.(*corev1.Pod); ok && len(p.Spec.Containers[0].Resources.Limits) == 0 && podRequires(podKind.MatchingResources([]corev1.ResourceName{"cpu", "limits.cpu", "memory"}), p) != nil && len(q.Spec.Hard) > 9 {
				continue // refused for that
			}
			after, err := Charge([]corev1.ResourceQuota{q}, nil, write("CREATE", o.gr.WithVersion("v1"), "o", it, nil))
			if err != nil {
				t.Errorf("%s of %s: %v", o.text, text, err)
				continue
			}
			counted, err := Used(&q, func(gr schema.GroupResource) (tally Tally, err error) {
				if gr != o.gr {
					return tally, nil
				}
				if tally.Number = 1; Measures(gr) {
					m, err := Measure(gr, tree)
					return Tally{1, []Measured{m}}, err
				}
				return tally, nil
			})
			if err != nil || !Equal(counted, after[0].Status.Used) {
				t.Errorf("%s of %s: counted %v, charged %v, %v", o.text, text, counted, after[0].Status.Used, err)
			}
			if !Equal(counted, q.Status.Used) {
				charged++
			}
		}
	}
	if charged < 15 {
		t.Errorf("only %d of them use anything", charged)
	}
}

// A claim may be given devices of a class by several requests, and by one of the
// alternatives of a request.
func TestDevicesAreTheMostThatAClaimMayBeGiven(t *testing.T) {
	var c resourcev1.ResourceClaim
	err := json.Unmarshal([]byte(`{"spec":{"devices":{"requests":[
		{"exactly":{"deviceClassName":"gold","allocationMode":"ExactCount","count":2}},
		{"firstAvailable":[{"deviceClassName":"gold","allocationMode":"ExactCount","count":3},{"deviceClassName":"gold","allocationMode":"ExactCount","count":1},{"deviceClassName":"tin","allocationMode":"All"}]},
		{"exactly":{"deviceClassName":"tin","allocationMode":"New","count":7}}]}}}`), &c)
	want := corev1.ResourceList{
		"count/resourceclaims.resource.k8s.io": number(1), "gold.deviceclass.resource.k8s.io/devices": number(5), "tin.deviceclass.resource.k8s.io/devices": number(32),
	}
	if got := deviceUsage(&c); err != nil || !Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// An update of a pod is charged where it makes the pod one that another quota
// counts, and for nothing else.
func TestAPodThatIsGivenADeadlineIsChargedAgain(t *testing.T) {
	q := corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": number(1)}, Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}}}
	q.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: corev1.ResourceList{"pods": number(0)}}
	without := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", ResourceVersion: "1"}}
	with, later := without.DeepCopy(), without.DeepCopy()
	with.Spec.ActiveDeadlineSeconds, later.Spec.ActiveDeadlineSeconds = new(int64(60)), new(int64(30))
	for name, c := range map[string]struct {
		old, now *corev1.Pod
		uses     int
	}{
		"a deadline": {without, with, 1}, "another": {with, later, 0}, "none": {with, without, 0}, "still none": {without, without, 0},
	} {
		after, err := Charge([]corev1.ResourceQuota{q}, nil, write("UPDATE", Pods.WithVersion("v1"), "p", c.now, c.old))
		if err != nil || !Equal(after[0].Status.Used, corev1.ResourceList{"pods": number(c.uses)}) {
			t.Errorf("%s: %v, %v", name, after[0].Status.Used, err)
		}
	}
	q.Status.Used = q.Spec.Hard
	if _, err := Charge([]corev1.ResourceQuota{q}, nil, write("UPDATE", Pods.WithVersion("v1"), "p", with, without)); !apierrors.IsForbidden(err) {
		t.Errorf("beyond what there is: %v", err)
	}
}

// A pod that has ended, or should have, is an object and no more.
func TestEndedPodsUseNothing(t *testing.T) {
	past, grace := metav1.NewTime(time.Now().Add(-time.Hour)), int64(30)
	for name, c := range map[string]struct {
		pod  corev1.Pod
		uses bool
	}{
		"runs":      {corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}, true},
		"succeeded": {corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, false},
		"failed":    {corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}, false},
		"overdue":   {corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &past, DeletionGracePeriodSeconds: &grace}}, false},
		"ends":      {corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: time.Now()}, DeletionGracePeriodSeconds: &grace}}, true},
	} {
		got := PodUsage(&c.pod)
		if _, uses := got[corev1.ResourcePods]; uses != c.uses {
			t.Errorf("%s: %v", name, got)
		}
		if q := got["count/pods"]; q.Cmp(resource.MustParse("1")) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What is used by a pod that is being deleted changes though the pod stays; nothing else's does.
func TestWhatPassesByItself(t *testing.T) {
	for _, c := range []struct {
		gr   schema.GroupResource
		text string
		want bool
	}{
		{Pods, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`, true}, {Pods, `{}`, false},
		{Claims, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`, false}, {Services, `{}`, false}, {Devices, `{}`, false},
	} {
		tree := map[string]any{}
		if err := json.Unmarshal([]byte(c.text), &tree); err != nil {
			t.Fatal(err)
		}
		if m, err := Measure(c.gr, tree); err != nil || m.Passing != c.want {
			t.Errorf("%s %s: %v, %v", c.gr, c.text, m.Passing, err)
		}
	}
	if _, err := Measure(schema.GroupResource{Resource: "secrets"}, map[string]any{}); err == nil {
		t.Error("secrets are measured")
	}
}

func TestKindsOfQuotas(t *testing.T) {
	got := kinds(corev1.ResourceList{"limits.cpu": {}, "count/deployments.apps": {}, "secrets": {}, "count/secrets": {}, "x.storageclass.storage.k8s.io/requests.storage": {}, "count/events": {}, "services.nodeports": {}, "odd": {}})
	for gr, name := range map[schema.GroupResource]corev1.ResourceName{Pods: "count/pods", Services: "count/services", Claims: "count/persistentvolumeclaims", Devices: "count/resourceclaims.resource.k8s.io"} {
		if of := Of(gr).MatchingResources([]corev1.ResourceName{name, "count/odd"}); len(of) != 1 || of[0] != name {
			t.Errorf("of how many %s there are a quota limits %v", gr, of)
		}
	}
	if len(got) != 5 || got[0] != Pods || got[1] != Services || got[2] != Claims || got[3].Resource != "secrets" || got[4] != (schema.GroupResource{Group: "apps", Resource: "deployments"}) {
		t.Error(got)
	}
}

// A selector may list thousands of classes, and is read once for all objects.
func TestSelectorsAreReadOnce(t *testing.T) {
	values := make([]string, 500)
	for i := range values {
		values[i] = fmt.Sprint("class-", i)
	}
	q := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("9")}, ScopeSelector: &corev1.ScopeSelector{
		MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: values}},
	}}}
	allocations := func(pods int) float64 {
		all := Tally{Number: pods}
		for range pods {
			all.Each = append(all.Each, Measured{usage: corev1.ResourceList{"pods": number(1)}, scopes: scopes{pod: true, classes: []string{"class-7"}}})
		}
		return testing.AllocsPerRun(5, func() {
			used, err := Used(q, func(schema.GroupResource) (Tally, error) { return all, nil })
			if n := used["pods"]; err != nil || n.Value() != int64(pods) {
				t.Fatal(used, err)
			}
		})
	}
	if one, many := allocations(1), allocations(100); many > one+100*20 {
		t.Errorf("one pod takes %.0f allocations, a hundred %.0f", one, many)
	}
}

// write is a write in the namespace n.
func write(o admission.Operation, r schema.GroupVersionResource, name string, now, old runtime.Object) admission.Attributes {
	return admission.NewAttributesRecord(now, old, schema.GroupVersionKind{}, "n", name, r, "", o, nil, false, nil)
}
