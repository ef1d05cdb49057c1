package rbac

import (
	"math/rand/v2"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/authz"
)

// 1,000 roles and 5,000 bindings, to 500 users of 167 groups in 100 namespaces.
func large() (Objects, []authz.Attributes) {
	r := rand.New(rand.NewPCG(3, 4))
	o := many(r, 1000, 5000, 500, 100)
	requests := make([]authz.Attributes, 1024)
	for i := range requests {
		requests[i] = anyRequest(r, 500, 100)
	}
	return o, requests
}

func BenchmarkAuthorize(b *testing.B) {
	o, requests := large()
	p := Compile(o)
	type outcome struct{ allowed, missing bool }
	for name, want := range map[string]outcome{"allowed": {true, false}, "refused": {}, "refused-for-missing-roles": {false, true}} {
		var some []authz.Attributes
		for _, a := range requests {
			if yes, reason := p.Authorize(a); want == (outcome{yes, !yes && reason != ""}) {
				some = append(some, a)
			}
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p.Authorize(some[i%len(some)])
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	o, _ := large()
	b.ReportAllocs()
	for b.Loop() {
		Compile(o)
	}
}
