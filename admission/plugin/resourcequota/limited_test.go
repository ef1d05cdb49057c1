package resourcequota

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const pairs = `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"ResourceQuotaConfiguration","limitedResources":[{"resource":"pods","matchContains":["pods"]}]}`

// What is limited is for namespaces with a quota of it, and nothing else is.
func TestLimitedResources(t *testing.T) {
	limited, err := ReadLimited([]byte(pairs))
	if err != nil || !limited.About(Pods) || limited.About(Services) || limited.About(schema.GroupResource{Group: "metrics.k8s.io", Resource: "pods"}) {
		t.Fatal(limited, err)
	}
	hard := func(name corev1.ResourceName) corev1.ResourceQuota {
		five, none := resource.MustParse("5"), resource.MustParse("0")
		list := corev1.ResourceList{name: five, "count/" + name: five}
		return corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: list}, Status: corev1.ResourceQuotaStatus{Hard: list, Used: corev1.ResourceList{name: none, "count/" + name: none}}}
	}
	creation := write("CREATE", Pods.WithVersion("v1"), "p", &corev1.Pod{}, nil)
	for name, c := range map[string]struct {
		quotas []corev1.ResourceQuota
		taken  bool
	}{"no quota": {nil, false}, "one of something else": {[]corev1.ResourceQuota{hard("services")}, false}, "one of it": {[]corev1.ResourceQuota{hard("services"), hard("pods")}, true}} {
		_, err := Charge(c.quotas, limited, creation)
		if (err == nil) != c.taken || err != nil && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "insufficient quota to consume: count/pods,pods")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if none, err := ReadLimited(nil); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
	for _, wrong := range []string{"{", `{"apiVersion":"v1","kind":"Pod"}`, strings.Replace(pairs, `"resource":"pods",`, "", 1), strings.Replace(pairs, "matchContains", "odd", 1)} {
		if _, err := ReadLimited([]byte(wrong)); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

// A scope that is limited is for namespaces with a quota of it: of a priority, for one.
func TestLimitedScopes(t *testing.T) {
	limited, err := ReadLimited([]byte(strings.Replace(pairs, `"matchContains":["pods"]`, `"matchScopes":[{"scopeName":"PriorityClass","operator":"In","values":["high"]},{"scopeName":"CrossNamespacePodAffinity","operator":"Exists"}]`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	five := corev1.ResourceList{"pods": resource.MustParse("5")}
	covers := corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: five, ScopeSelector: &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{
		{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"high"}},
	}}}, Status: corev1.ResourceQuotaStatus{Hard: five, Used: corev1.ResourceList{"pods": resource.MustParse("0")}}}
	far := &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{Namespaces: []string{"other"}, TopologyKey: "x"}}}}
	for name, c := range map[string]struct {
		spec   corev1.PodSpec
		quotas []corev1.ResourceQuota
		want   string
	}{
		"high, no quota":       {corev1.PodSpec{PriorityClassName: "high"}, nil, "insufficient quota to match these scopes: [{PriorityClass In [high]}]"},
		"high, a quota of it":  {corev1.PodSpec{PriorityClassName: "high"}, []corev1.ResourceQuota{covers}, ""},
		"low":                  {corev1.PodSpec{PriorityClassName: "low"}, nil, ""},
		"across namespaces":    {corev1.PodSpec{Affinity: far}, []corev1.ResourceQuota{covers}, "insufficient quota to match these scopes: [{CrossNamespacePodAffinity Exists []}]"},
		"both, a quota of one": {corev1.PodSpec{PriorityClassName: "high", Affinity: far}, []corev1.ResourceQuota{covers}, "insufficient quota to match these scopes: [{CrossNamespacePodAffinity Exists []}]"},
	} {
		_, err := Charge(c.quotas, limited, write("CREATE", Pods.WithVersion("v1"), "p", &corev1.Pod{Spec: c.spec}, nil))
		if (err == nil) != (c.want == "") || err != nil && (!apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
