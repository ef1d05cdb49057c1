package service

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// further are the ranges that ServiceCIDRs add to that of the cluster, of its family
// (KEP-1880). One that is not ready, or goes, has no addresses to give.
func (s *request) further(ctx context.Context) (all []netip.Prefix, err error) {
	listed, err := s.objects.List(ctx, serviceCIDRs, "")
	if err != nil {
		return nil, ignoreNotFound(err) // not all gateways serve them
	}
	for _, o := range listed {
		var c networkingv1.ServiceCIDR
		if gvr.Decode(o, &c) != nil || c.DeletionTimestamp != nil || meta.IsStatusConditionFalse(c.Status.Conditions, networkingv1.ServiceCIDRConditionReady) {
			continue
		}
		for _, text := range c.Spec.CIDRs {
			p, err := netip.ParsePrefix(text)
			if err == nil && p.Addr().Is4() == s.config.Addresses.Addr().Is4() && p.Masked() != s.config.Addresses.Masked() && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// inRange tells whether services may have an address.
func (s *request) inRange(ctx context.Context, addr netip.Addr) (bool, error) {
	if usable(s.config.Addresses, addr) {
		return true, nil
	}
	all, err := s.further(ctx)
	return slices.ContainsFunc(all, func(p netip.Prefix) bool { return usable(p, addr) }), err
}

// errFull tells that a range has no address left.
var errFull = errors.New("failed to allocate a serviceIP: range is full")

// anyAddress takes one that is free, of the cluster's range while that has any.
func (s *request) anyAddress(ctx context.Context) (netip.Addr, error) {
	addr, err := s.anyIn(ctx, s.config.Addresses, 2) // the first is the API's
	if !errors.Is(err, errFull) {
		return addr, err
	}
	all, err := s.further(ctx)
	if err != nil {
		return addr, err
	}
	for _, p := range all {
		if addr, err = s.anyIn(ctx, p, 1); !errors.Is(err, errFull) {
			return addr, err
		}
	}
	return addr, apierrors.NewInternalError(errFull)
}

// attempts is how many random addresses are tried before all are.
const attempts = 16

// anyIn takes one of a range, from the first on, those that clients may name last.
func (s *request) anyIn(ctx context.Context, p netip.Prefix, first uint64) (netip.Addr, error) {
	size := uint64(1) << min(16, p.Addr().BitLen()-p.Bits())
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
		if n < first || n == size-1 { // the network, or the last
			continue
		}
		addr := nth(p, n)
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
	return netip.Addr{}, errFull
}
