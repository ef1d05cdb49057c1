package warnings

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// aboutPod warns when a pod is created: nobody writes pods by hand later.
func aboutPod(t *told, obj, old map[string]any) {
	if old != nil {
		return
	}
	t.hostname(obj, "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v")
	t.template(nil, obj)
}

// ofTemplate is about kinds that have a template of pods at a path; name is why their
// own names should be those of hosts, "" if they need not.
func ofTemplate(name string, path ...string) func(t *told, obj, old map[string]any) {
	at := field.NewPath(path[0], path[1:]...)
	return func(t *told, obj, old map[string]any) {
		if same(obj, old) {
			return
		}
		if old == nil {
			t.hostname(obj, name)
		}
		if template := child(obj, path...); template != nil {
			t.template(at, template)
		}
	}
}

func aboutStatefulSet(t *told, obj, old map[string]any) {
	spec := object.Child(obj, "spec")
	if template := object.Child(spec, "template"); template != nil && !same(obj, old) {
		t.template(field.NewPath("spec", "template"), template)
	}
	for i, claim := range list(spec, "volumeClaimTemplates") {
		at := field.NewPath("spec", "volumeClaimTemplates").Index(i)
		if old != nil {
			at = at.Child("Spec") // as kube-apiserver spells it
		}
		t.claim(at, object.Child(claim, "spec"))
	}
	if n, _ := spec["revisionHistoryLimit"].(int64); n < 0 {
		t.say("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
}

// ofJob is about kinds that have the spec of a job at a path.
func ofJob(path ...string) func(t *told, obj, old map[string]any) {
	at := field.NewPath(path[0], path[1:]...)
	return func(t *told, obj, old map[string]any) {
		if same(obj, old) {
			return
		}
		if old == nil {
			t.hostname(obj, podNames)
		}
		spec := child(obj, path...)
		completions, _ := spec["completions"].(int64)
		parallelism, _ := spec["parallelism"].(int64)
		if spec["completionMode"] == "Indexed" && completions > 100_000 && parallelism > 10_000 {
			t.say("%s: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail", at)
		}
		t.template(at.Child("template"), object.Child(spec, "template"))
	}
}

// template is about a pod, or a template at a path.
func (t *told) template(at *field.Path, template map[string]any) {
	spec := object.Child(template, "spec")
	t.nodes(at.Child("spec"), spec)
	notes := func(name string) *field.Path { return at.Child("metadata", "annotations").Key(name) }
	t.deprecated(annotations(template), notes,
		"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`,
		"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`,
		"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`)
	t.volumes(at.Child("spec", "volumes"), spec)
	t.names(at.Child("spec"), spec)
	t.fractions(at.Child("spec", "overhead"), object.Child(spec, "overhead"), "memory", "ephemeral-storage")
	if child(spec, "securityContext", "seccompProfile") == nil {
		t.deprecated(annotations(template), notes, seccompOfPod, seccomp)
	}
	each := func(fn func(at *field.Path, c map[string]any)) {
		for _, name := range []string{"initContainers", "containers", "ephemeralContainers"} {
			for i, c := range list(spec, name) {
				fn(at.Child("spec", name).Index(i), c)
			}
		}
	}
	each(func(p *field.Path, c map[string]any) { t.container(p, c, at, template) })
	t.ports(each)
	if n, ok := spec["terminationGracePeriodSeconds"].(int64); ok && n < 0 {
		t.say("%s: must be >= 0; negative values are invalid and will be treated as 1", at.Child("spec", "terminationGracePeriodSeconds"))
	}
	t.affinity(at.Child("spec", "affinity"), object.Child(spec, "affinity"))
	for i, server := range texts(object.Child(spec, "dnsConfig"), "nameservers") {
		t.ip(at.Child("spec", "dnsConfig", "nameservers").Index(i), server)
	}
	for i, alias := range list(spec, "hostAliases") {
		t.ip(at.Child("spec", "hostAliases").Index(i).Child("ip"), object.TextAt(alias, "ip"))
	}
}

// nodes are about how a pod names nodes.
func (t *told) nodes(at *field.Path, spec map[string]any) {
	t.labels(at.Child("nodeSelector"), object.Child(spec, "nodeSelector"))
	affinity := child(spec, "affinity", "nodeAffinity")
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	for i, term := range list(object.Child(affinity, required), "nodeSelectorTerms") {
		t.term(at.Child("affinity", "nodeAffinity", required, "nodeSelectorTerms").Index(i), term, false)
	}
	for i, term := range list(affinity, preferred) {
		t.term(at.Child("affinity", "nodeAffinity", preferred).Index(i).Child("preference"), object.Child(term, "preference"), true)
	}
	for i, c := range list(spec, "topologySpreadConstraints") {
		here := at.Child("topologySpreadConstraints").Index(i)
		if key := object.TextAt(c, "topologyKey"); oldLabels[key] != "" {
			t.say("%s: %s is %s", here.Child("topologyKey"), key, oldLabels[key])
		}
		if c["labelSelector"] == nil {
			t.say("%s: a null labelSelector results in matching no pod", here.Child("labelSelector"))
		}
	}
}

// affinity is about terms that match no pod.
func (t *told) affinity(at *field.Path, of map[string]any) {
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		for i, term := range list(object.Child(of, kind), required) {
			if term["labelSelector"] == nil {
				t.say("%s: a null labelSelector results in matching no pod", at.Child(kind, required).Index(i).Child("labelSelector"))
			}
		}
		for i, term := range list(object.Child(of, kind), preferred) {
			if object.Child(term, "podAffinityTerm")["labelSelector"] == nil {
				t.say("%s: a null labelSelector results in matching no pod", at.Child(kind, preferred).Index(i).Child("podAffinityTerm", "labelSelector"))
			}
		}
	}
}

// names are about what is named twice, or not at all.
func (t *told) names(at *field.Path, spec map[string]any) {
	ips := sets.New[string]()
	for i, alias := range list(spec, "hostAliases") {
		ip := object.TextAt(alias, "ip")
		if ips.Has(ip) {
			t.say("%s: duplicate ip %q", at.Child("hostAliases").Index(i).Child("ip"), ip)
		}
		ips.Insert(ip)
	}
	secrets, all := sets.New[string](), list(spec, "imagePullSecrets")
	for i, secret := range all {
		name := object.TextAt(secret, "name")
		if secrets.Has(name) {
			t.say("%s: duplicate name %q", at.Child("imagePullSecrets").Index(i).Child("name"), name)
		}
		secrets.Insert(name)
	}
	for i, secret := range all {
		if object.TextAt(secret, "name") == "" {
			t.say("%s: invalid empty name %q", at.Child("imagePullSecrets").Index(i).Child("name"), "")
		}
	}
}

const (
	seccompOfPod       = "seccomp.security.alpha.kubernetes.io/pod"
	seccompOfContainer = "container.seccomp.security.alpha.kubernetes.io/"
	seccomp            = `non-functional in v1.27+; use the "seccompProfile" field instead`
	appArmor           = "container.apparmor.security.beta.kubernetes.io/"
)

// container is about one container of a template at a path, nil of a pod.
func (t *told) container(p *field.Path, c map[string]any, at *field.Path, template map[string]any) {
	name, notes := object.TextAt(c, "name"), func(name string) *field.Path { return at.Child("metadata", "annotations").Key(name) }
	if child(c, "securityContext", "seccompProfile") == nil {
		t.deprecated(annotations(template), notes, seccompOfContainer+name, seccomp)
	}
	if value, has := annotations(template)[appArmor+name].(string); has && at != nil && child(c, "securityContext", "appArmorProfile") == nil {
		if is := child(template, "spec", "securityContext", "appArmorProfile"); is == nil || !means(value, is) {
			t.say("%s: %s", notes(appArmor+name), `deprecated since v1.30; use the "appArmorProfile" field instead`)
		}
	}
	resources := object.Child(c, "resources")
	for _, r := range []string{"memory", "ephemeral-storage"} {
		t.fractions(p.Child("resources", "limits"), object.Child(resources, "limits"), r)
		t.fractions(p.Child("resources", "requests"), object.Child(resources, "requests"), r)
	}
	set := sets.New[string]()
	for i, env := range list(c, "env") {
		name, value := object.TextAt(env, "name"), object.TextAt(env, "value")
		itself := "$(" + name + ")"
		if set.Has(name) && (env["valueFrom"] != nil || value == itself || !strings.Contains(value, itself)) {
			t.say("%s: hides previous definition of %q, which may be dropped when using apply", p.Child("env").Index(i), name)
		}
		set.Insert(name)
	}
}

// means tells that an annotation says of AppArmor what a field does.
func means(annotation string, profile map[string]any) bool {
	switch kind := object.TextAt(profile, "type"); {
	case annotation == "unconfined":
		return kind == "Unconfined"
	case annotation == "runtime/default":
		return kind == "RuntimeDefault"
	default:
		local, ok := strings.CutPrefix(annotation, "localhost/")
		return ok && local != "" && kind == "Localhost" && object.TextAt(profile, "localhostProfile") == local
	}
}
