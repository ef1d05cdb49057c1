package service

import (
	"context"
	"encoding/binary"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

const headless = "None"

// addresses sees to spec.clusterIP and what goes with it.
func (s *request) addresses(ctx context.Context) error {
	if s.is(corev1.ServiceTypeExternalName) {
		return nil
	}
	ip, list := object.TextAt(s.spec, "clusterIP"), texts(s.spec["clusterIPs"])
	before := object.TextAt(s.was, "clusterIP")
	held := ip != "" && ip == before
	if before != "" && !held && object.TextAt(s.was, "type") != string(corev1.ServiceTypeExternalName) {
		return s.invalid(clusterIPs.Index(0), []string{ip}, "may not change once set")
	}
	if contradict(ip, list) {
		return nil // validation refuses it
	}
	if err := s.families(ip, list); err != nil {
		return err
	}
	switch {
	case ip == headless, held:
	case ip == "":
		free, err := s.anyAddress(ctx)
		if err != nil {
			return err
		}
		ip = free.String()
	default:
		if err := s.thisAddress(ctx, ip); err != nil {
			return err
		}
	}
	s.spec["clusterIP"], s.spec["clusterIPs"] = ip, []any{ip}
	return nil
}

// contradict tells that a list of addresses does not go with the one that is
// said besides, or is none of a service.
func contradict(ip string, list []string) bool {
	if len(list) == 2 && list[0] == ip {
		a, errA := netip.ParseAddr(list[0])
		b, errB := netip.ParseAddr(list[1])
		return errA != nil || errB != nil || a.Is4() == b.Is4()
	}
	return len(list) > 1 || len(list) == 1 && list[0] != ip
}

// families sees to the families of a service's addresses, of which the cluster has
// one. A service that only names what others are at may have both.
func (s *request) families(ip string, list []string) error {
	ours, other := "IPv4", "IPv6"
	if s.config.Addresses.Addr().Is6() {
		ours, other = other, ours
	}
	bare := ip == headless && len(object.Child(s.spec, "selector")) == 0
	if s.spec["ipFamilyPolicy"] == nil {
		s.spec["ipFamilyPolicy"] = map[bool]string{true: "RequireDualStack", false: "SingleStack"}[bare]
	}
	policy, families := object.TextAt(s.spec, "ipFamilyPolicy"), texts(s.spec["ipFamilies"])
	at := field.NewPath("spec", "ipFamilyPolicy")
	const must = "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
	switch {
	case policy == "SingleStack" && len(list) > 1:
		return s.invalid(at, policy, must+"cluster IPs are specified")
	case policy == "SingleStack" && len(families) > 1:
		return s.invalid(at, policy, must+"IP families are specified")
	case len(list) > len(families) && len(list) > 1:
		return s.invalid(clusterIPs.Index(len(list)-1), list, other+" is not configured on this cluster")
	case len(families) == 0:
		families = []string{ours}
	}
	if bare && len(families) == 1 && policy != "SingleStack" {
		families = append(families, map[string]string{ours: other, other: ours}[families[0]])
	}
	if !bare && policy == "RequireDualStack" {
		return s.invalid(at, policy, "this cluster is not configured for dual-stack services")
	}
	all := make([]any, len(families))
	for i, f := range families {
		if !bare && f == other {
			return s.invalid(field.NewPath("spec", "ipFamilies").Index(i), f, "not configured on this cluster")
		}
		all[i] = f
	}
	s.spec["ipFamilies"] = all
	return nil
}

// texts are the texts in a list.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		s, _ := item.(string)
		out = append(out, s)
	}
	return out
}

// pairAddresses finds out what is meant where an address and the list that it
// begins are not both said, as clients of long ago know one of them.
func pairAddresses(spec, was map[string]any) {
	ip, before := object.TextAt(spec, "clusterIP"), object.TextAt(was, "clusterIP")
	list, had := texts(spec["clusterIPs"]), texts(was["clusterIPs"])
	same := slices.Equal(list, had)
	switch {
	case was == nil && ip != "" && len(list) == 0:
		spec["clusterIPs"] = []any{ip}
	case was == nil || ip == before && len(list) > 0:
	case ip == before:
		spec["clusterIPs"] = was["clusterIPs"]
	case ip == "" && same:
		delete(spec, "clusterIPs")
	case same:
		spec["clusterIPs"] = []any{ip}
	}
}

var clusterIPs = field.NewPath("spec", "clusterIPs")

// thisAddress takes the address that the client wants.
func (s *request) thisAddress(ctx context.Context, ip string) error {
	refuse := func(why string) error {
		return s.invalid(clusterIPs, []string{ip}, "failed to allocate IP "+ip+": "+why)
	}
	if errs := validation.IsValidIPForLegacyField(clusterIPs.Index(0), ip, true, nil); len(errs) > 0 {
		return s.invalid(clusterIPs.Index(0), ip, errs[0].Detail)
	}
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return s.invalid(clusterIPs.Index(0), ip, err.Error())
	}
	switch in, err := s.inRange(ctx, addr); {
	case err != nil:
		return err
	case !in:
		return refuse("the provided network does not match the current range")
	}
	switch err := s.reserve(ctx, addr); {
	case apierrors.IsAlreadyExists(err):
		return refuse("provided IP is already allocated")
	case err != nil:
		return err
	}
	return nil
}

// kept is how many of the first of a range are kept for clients that name what
// they want, as long as there are others: one of so many, but neither few nor
// more than most (KEP-3070 for addresses, KEP-3668 for ports).
func kept(size, of, most uint64) uint64 {
	const least = 16
	if size <= least {
		return 0
	}
	return min(max(least, size/of), most)
}

// usable tells that services may have an address: one of the range, but neither
// that of the network nor, of IPv4, that of all its hosts.
func usable(p netip.Prefix, addr netip.Addr) bool {
	if !p.Contains(addr) || addr == p.Masked().Addr() {
		return false
	}
	return addr.Is6() || addr != nth(p, uint64(1)<<(addr.BitLen()-p.Bits())-1)
}

// addressOfService is the address that a service has, the zero value for none.
// It may be written in several ways.
func addressOfService(service *unstructured.Unstructured) netip.Addr {
	addr, err := netip.ParseAddr(object.TextAt(object.Child(service.Object, "spec"), "clusterIP"))
	if err != nil {
		return netip.Addr{}
	}
	return addr
}

// nth is an address of a range.
func nth(p netip.Prefix, n uint64) netip.Addr {
	if p.Addr().Is4() {
		b := p.Masked().Addr().As4()
		binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])+uint32(n))
		return netip.AddrFrom4(b)
	}
	b := p.Masked().Addr().As16()
	binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(b[8:])+n)
	return netip.AddrFrom16(b)
}
