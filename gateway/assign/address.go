package assign

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	if !s.config.Addresses.Contains(addr) {
		return refuse(fmt.Sprintf("the provided network does not match the current range: the range of valid IPs is %s", s.config.Addresses))
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

// anyAddress takes one that is free.
func (s *request) anyAddress(ctx context.Context) (netip.Addr, error) {
	size := uint64(1) << min(16, s.config.Addresses.Addr().BitLen()-s.config.Addresses.Bits())
	start := rand.Uint64N(size)
	for i := range attempts + size {
		n := (start + i) % size
		if i < attempts {
			n = rand.Uint64N(size)
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
