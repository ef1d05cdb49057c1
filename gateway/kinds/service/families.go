package service

import (
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

const (
	v4, v6                  = string(corev1.IPv4Protocol), string(corev1.IPv6Protocol)
	single, prefers, either = string(corev1.IPFamilyPolicySingleStack), string(corev1.IPFamilyPolicyPreferDualStack), string(corev1.IPFamilyPolicyRequireDualStack)
)

var (
	familyPolicy = field.NewPath("spec", "ipFamilyPolicy")
	ipFamilies   = field.NewPath("spec", "ipFamilies")
)

// stays tells that a service goes on as it was, with one address or two: who prefers two
// has them since the cluster has, and that may have changed.
func (s *request) stays() bool {
	if s.was == nil || s.spec["ipFamilyPolicy"] != prefers || s.was["ipFamilyPolicy"] != prefers || s.spec["type"] != s.was["type"] {
		return false
	}
	return sameTexts(s.spec, s.was, "clusterIPs") && sameTexts(s.spec, s.was, "ipFamilies")
}

// sameTexts tells that two have the same list of texts.
func sameTexts(a, b map[string]any, name string) bool {
	return slices.Equal(texts(a[name]), texts(b[name]))
}

// policy is the one that a service had, or that goes with what it is.
func (s *request) policy() {
	switch was := s.was["ipFamilyPolicy"]; {
	case s.spec["ipFamilyPolicy"] != nil:
	case was != nil:
		s.spec["ipFamilyPolicy"] = was
	case bare(s.spec):
		s.spec["ipFamilyPolicy"] = either
	default:
		s.spec["ipFamilyPolicy"] = single
	}
}

// bare tells that a service only names what others are at.
func bare(spec map[string]any) bool {
	return object.TextAt(spec, "clusterIP") == headless && len(object.Child(spec, "selector")) == 0
}

// contradicts tells that what is said of addresses and families does not go together, or
// is none.
func (s *request) contradicts() bool {
	ip, list, families := object.TextAt(s.spec, "clusterIP"), texts(s.spec["clusterIPs"]), texts(s.spec["ipFamilies"])
	unknown := func(f string) bool { return f != v4 && f != v6 }
	switch {
	case !slices.Contains([]string{single, prefers, either}, object.TextAt(s.spec, "ipFamilyPolicy")),
		slices.ContainsFunc(families, unknown), len(families) > 2, len(families) == 2 && families[0] == families[1],
		len(list) > 2, (ip == "") != (len(list) == 0), ip != "" && list[0] != ip:
		return true
	case len(list) == 2 && slices.Contains(list, headless):
		return true
	case len(list) == 2 && familyOf(list[0]) == familyOf(list[1]):
		return true
	}
	for i := range min(len(list), len(families)) {
		if f := familyOf(list[i]); f != "" && f != families[i] {
			return true
		}
	}
	return false
}

// malformed are the addresses that are none.
func (s *request) malformed() (errs field.ErrorList) {
	for i, ip := range texts(s.spec["clusterIPs"]) {
		if ip != headless {
			errs = append(errs, validation.IsValidIPForLegacyField(clusterIPs.Index(i), ip, true, texts(s.was["clusterIPs"]))...)
		}
	}
	return errs
}

// families sees to the families of a service's addresses. A service that only names what
// others are at may have those that the cluster has not.
func (s *request) families() (errs field.ErrorList) {
	policy := s.spec["ipFamilyPolicy"]
	if s.was != nil {
		errs = s.reduce(policy)
	}
	list, families := texts(s.spec["clusterIPs"]), texts(s.spec["ipFamilies"])
	const must = "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
	if policy == single && len(list) == 2 {
		errs = append(errs, field.Invalid(familyPolicy, policy, must+"cluster IPs are specified"))
	}
	if policy == single && len(families) == 2 {
		errs = append(errs, field.Invalid(familyPolicy, policy, must+"IP families are specified"))
	}
	for i := len(families); i < len(list) && list[i] != headless; i++ {
		f := familyOf(list[i])
		if s.pool(f) == nil {
			errs = append(errs, field.Invalid(clusterIPs.Index(i), list, f+" is not configured on this cluster"))
		}
		families = append(families, f)
	}
	if len(errs) > 0 {
		return errs
	}
	if !bare(s.spec) {
		errs = s.unconfigured(policy, families)
	}
	if len(families) == 0 {
		families = []string{s.pools[0].family}
	}
	if len(families) == 1 && policy != single && (bare(s.spec) || len(s.pools) == 2) {
		families = append(families, map[string]string{v4: v6, v6: v4}[families[0]])
	}
	s.spec["ipFamilies"] = listOf(families)
	return errs
}

// reduce takes the second address and family from a service that is to have one, and
// refuses that one of those is taken from another.
func (s *request) reduce(policy any) (errs field.ErrorList) {
	for _, l := range [][2]string{{"clusterIPs", "cluster IP"}, {"ipFamilies", "IP family"}} {
		now, before := texts(s.spec[l[0]]), texts(s.was[l[0]])
		switch {
		case policy == single && sameTexts(s.spec, s.was, l[0]) && len(now) > 1:
			s.spec[l[0]] = listOf(now[:1])
		case policy != single && len(now) > 0 && len(now) < len(before):
			errs = append(errs, field.Invalid(familyPolicy, policy, "must be 'SingleStack' to release the secondary "+l[1]))
		}
	}
	return errs
}

// unconfigured is what of a service's families the cluster has not.
func (s *request) unconfigured(policy any, families []string) (errs field.ErrorList) {
	if policy == either && len(s.pools) < 2 {
		errs = append(errs, field.Invalid(familyPolicy, policy, "this cluster is not configured for dual-stack services"))
	}
	for i, f := range families {
		if s.pool(f) == nil {
			errs = append(errs, field.Invalid(ipFamilies.Index(i), f, "not configured on this cluster"))
		}
	}
	return errs
}

// asRead is what a service says of addresses and families, of which those say nothing
// that were stored before there were several.
func (a *Assigner) asRead(spec map[string]any) map[string]any {
	ip := object.TextAt(spec, "clusterIP")
	if ip == "" || len(texts(spec["ipFamilies"])) > 0 || object.TextAt(spec, "type") == string(corev1.ServiceTypeExternalName) {
		return spec
	}
	spec = maps.Clone(spec)
	if len(texts(spec["clusterIPs"])) == 0 {
		spec["clusterIPs"] = []any{ip}
	}
	s := &request{Assigner: a, spec: spec}
	s.policy()
	s.families()
	return spec
}

// familyOf is the family of an address, "" for what is none.
func familyOf(ip string) string {
	switch addr, err := netip.ParseAddr(ip); {
	case err != nil:
		return ""
	case addr.Is4():
		return v4
	}
	return v6
}
