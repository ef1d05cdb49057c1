package service

import (
	"context"
	"encoding/binary"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

const headless = "None"

// addresses sees to spec.clusterIP and what goes with it.
func (s *request) addresses(ctx context.Context) error {
	if s.is(corev1.ServiceTypeExternalName) || s.stays() {
		return nil
	}
	s.policy()
	if s.contradicts() {
		return nil // validation refuses it
	}
	errs := s.malformed()
	if len(errs) == 0 {
		errs = s.families()
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, s.write.GetObject().GetName(), errs)
	}
	had := hadBy(s.was)
	list, families := texts(s.spec["clusterIPs"]), texts(s.spec["ipFamilies"])
	switch {
	case len(list) > 0 && list[0] == headless:
		return nil
	case len(had) == 0: // all of them
	case len(list) == 0 || list[0] != had[0], len(list) == 2 && len(had) == 2 && list[1] != had[1]:
		return nil // validation refuses it
	case len(list) < len(families) && len(texts(s.was["ipFamilies"])) != 1:
		families = families[:len(list)] // the second one comes with the second family alone
	}
	return s.take(ctx, list, families, had)
}

// hadBy are the addresses that a service had, which were its own: one that was a name had
// none, whatever it said.
func hadBy(was map[string]any) []string {
	if was["type"] == string(corev1.ServiceTypeExternalName) {
		return nil
	}
	return texts(was["clusterIPs"])
}

// take takes all addresses that the service has not had: those of list that the client
// wants, and others for further families.
func (s *request) take(ctx context.Context, list, families, had []string) error {
	for len(list) < len(families) {
		list = append(list, "")
	}
	for i := range list {
		if i < len(had) && list[i] == had[i] {
			continue
		}
		if i >= len(families) || s.pool(families[i]) == nil {
			return s.invalid(clusterIPs.Index(i), list, "there is no range for it")
		}
		p := s.pool(families[i])
		if list[i] != "" {
			if err := s.thisAddress(ctx, p, list[i], list); err != nil {
				return err
			}
			continue
		}
		free, err := s.anyAddress(ctx, p)
		if err != nil {
			return err
		}
		list[i] = free.String()
	}
	if len(list) > 0 {
		s.spec["clusterIP"], s.spec["clusterIPs"] = list[0], listOf(list)
	}
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

// listOf is a list of texts, as trees have it.
func listOf(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
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

// thisAddress takes the address of a family that the client wants, of list.
func (s *request) thisAddress(ctx context.Context, p *pool, ip string, list []string) error {
	refuse := func(why string) error {
		return s.invalid(clusterIPs, list, "failed to allocate IP "+ip+": "+why)
	}
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return s.invalid(clusterIPs, list, err.Error())
	}
	switch in, err := s.inRange(ctx, p, addr); {
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

// addressesOfService are those that a service has, none of one that is a name. They may be
// written in several ways.
func addressesOfService(service *unstructured.Unstructured) (all []netip.Addr) {
	spec := object.Child(service.Object, "spec")
	if object.TextAt(spec, "type") == string(corev1.ServiceTypeExternalName) {
		return nil
	}
	list := texts(spec["clusterIPs"])
	if len(list) == 0 {
		list = []string{object.TextAt(spec, "clusterIP")} // as before there were several
	}
	for _, ip := range list {
		if addr, err := netip.ParseAddr(ip); err == nil {
			all = append(all, addr)
		}
	}
	return all
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
