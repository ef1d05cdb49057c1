package assign

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const headless = "None"

// addresses sees to spec.clusterIP and what goes with it.
func (s *request) addresses(ctx context.Context) error {
	if s.is(corev1.ServiceTypeExternalName) {
		return nil
	}
	ip := text(s.spec, "clusterIP")
	if list, _ := s.spec["clusterIPs"].([]any); ip == "" && len(list) > 0 {
		ip, _ = list[0].(string)
	}
	before := text(s.was, "clusterIP")
	held := ip != "" && ip == before
	if before != "" && !held && text(s.was, "type") != string(corev1.ServiceTypeExternalName) {
		return s.invalid(clusterIPs.Index(0), []string{ip}, "may not change once set")
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
	family, policy := []any{"IPv4"}, "SingleStack"
	if s.config.Addresses.Addr().Is6() {
		family = []any{"IPv6"}
	}
	if ip == headless && len(child(s.spec, "selector")) == 0 {
		family, policy = []any{"IPv4", "IPv6"}, "RequireDualStack"
	}
	if s.spec["ipFamilies"] == nil {
		s.spec["ipFamilies"] = family
	}
	if s.spec["ipFamilyPolicy"] == nil {
		s.spec["ipFamilyPolicy"] = policy
	}
	return nil
}

var clusterIPs = field.NewPath("spec", "clusterIPs")

// thisAddress takes the address that the client wants.
func (s *request) thisAddress(ctx context.Context, ip string) error {
	refuse := func(why string) error {
		return s.invalid(clusterIPs, []string{ip}, "failed to allocate IP "+ip+": "+why)
	}
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return s.invalid(clusterIPs.Index(0), ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
	}
	if !usable(s.config.Addresses, addr) {
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

// attempts is how many random addresses are tried before all are.
const attempts = 16

// anyAddress takes one that is free, those that clients may name last.
func (s *request) anyAddress(ctx context.Context) (netip.Addr, error) {
	size := uint64(1) << min(16, s.config.Addresses.Addr().BitLen()-s.config.Addresses.Bits())
	low := kept(size, 16, 256)
	rest := size - low
	start := rand.Uint64N(rest)
	for i := range attempts + size {
		n := low + rand.Uint64N(rest)
		switch {
		case i >= attempts+rest:
			n = i - attempts - rest
		case i >= attempts:
			n = low + (start+i)%rest
		}
		if n < 2 || n == size-1 { // the network, the API, the last
			continue
		}
		addr := nth(s.config.Addresses, n)
		switch taken, err := s.known(ctx, addr.String()); {
		case err != nil:
			return addr, err
		case taken:
			continue
		}
		if err := s.reserve(ctx, addr); !apierrors.IsAlreadyExists(err) {
			return addr, err
		}
	}
	return netip.Addr{}, apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP: range is full"))
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
	addr, err := netip.ParseAddr(text(child(service.Object, "spec"), "clusterIP"))
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
