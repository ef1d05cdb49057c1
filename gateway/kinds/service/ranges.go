package service

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// pool are the addresses of one family.
type pool struct {
	own    netip.Prefix // that of the cluster
	family string
	// fullUntil is until when the range is not looked through that was full, in
	// nanoseconds since 1970.
	fullUntil atomic.Int64
}

// pool is that of a family; nil where the cluster has none.
func (a *Assigner) pool(family string) *pool {
	for _, p := range a.pools {
		if p.family == family {
			return p
		}
	}
	return nil
}

// further are the ranges that ServiceCIDRs add to that of the cluster, of its family
// (KEP-1880). One that is not ready, or goes, has no addresses to give.
func (s *request) further(ctx context.Context, own netip.Prefix) (all []netip.Prefix, err error) {
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
			if err == nil && p.Addr().Is4() == own.Addr().Is4() && p.Masked() != own.Masked() && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// inRange tells whether services may have an address.
func (s *request) inRange(ctx context.Context, of *pool, addr netip.Addr) (bool, error) {
	if usable(of.own, addr) {
		return true, nil
	}
	all, err := s.further(ctx, of.own)
	return slices.ContainsFunc(all, func(p netip.Prefix) bool { return usable(p, addr) }), err
}

// errFull tells that a range has no address left.
var errFull = errors.New("failed to allocate a serviceIP: range is full")

// fullFor is how long a full range is not looked through again while others have addresses.
const fullFor = 10 * time.Second

// anyAddress takes one that is free, of the cluster's range while that has any.
func (s *request) anyAddress(ctx context.Context, of *pool) (netip.Addr, error) {
	full := time.Now().UnixNano() < of.fullUntil.Load()
	if !full {
		addr, err := s.anyIn(ctx, of.own, of.own)
		if !errors.Is(err, errFull) {
			return addr, err
		}
		of.fullUntil.Store(time.Now().Add(fullFor).UnixNano())
	}
	all, err := s.further(ctx, of.own)
	if err != nil {
		return netip.Addr{}, err
	}
	if full {
		all = append(all, of.own)
	}
	for _, p := range all {
		if addr, err := s.anyIn(ctx, of.own, p); !errors.Is(err, errFull) {
			return addr, err
		}
	}
	return netip.Addr{}, apierrors.NewInternalError(errFull)
}

// attempts is how many random addresses are tried before all are, most how many those are.
const attempts, most = 16, 1 << 16

// anyIn takes one of a range, those that clients may name last; own is that of the
// cluster.
func (s *request) anyIn(ctx context.Context, own, p netip.Prefix) (netip.Addr, error) {
	all, begin, first := sizeOf(p), uint64(0), uint64(1)
	switch {
	case p == own:
		first = 2 // before it is the API
	case p.Bits() < own.Bits() && p.Contains(own.Addr()) && p.Masked().Addr() == own.Masked().Addr():
		begin, first = min(most, sizeOf(own)), 0 // what is there is looked through as its own
	}
	size := min(most, all-begin)
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
		if n < first || begin+n == all-1 { // the network, or the last
			continue
		}
		addr := nth(p, begin+n)
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

// sizeOf is how many addresses a range has, up to more than are ever looked at.
func sizeOf(p netip.Prefix) uint64 {
	return uint64(1) << min(32, p.Addr().BitLen()-p.Bits())
}
