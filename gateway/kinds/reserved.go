package kinds

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// Reserve keeps the names of what is in folders, which no request makes. Where the
// feature is off who uses one is warned, as kube-apiserver does.
func Reserve(o options.Serve) Kind {
	off := !o.Enabled(options.ManifestBasedAdmissionControlConfig)
	return Kind{Extend: func(d *crd.Definition) {
		if !guards.Has(d.GroupKind()) {
			return
		}
		for _, v := range d.Versions {
			v.Strategy = reserved{v.Strategy, off}
		}
	}}
}

// reserved is the strategy of a kind with that check.
type reserved struct {
	crd.Strategy
	off bool
}

// Validate implements [crd.Strategy].
func (r reserved) Validate(ctx context.Context, obj, old *unstructured.Unstructured) crd.Verdict {
	v := r.Strategy.Validate(ctx, obj, old)
	name := obj.GetName()
	if old != nil || !strings.HasSuffix(name, guards.Suffix) {
		return v
	}
	why := fmt.Sprintf("names ending with %q are reserved for static manifest-based configurations and cannot be managed via the API", guards.Suffix)
	if r.off {
		v.Warnings = append(slices.Clone(v.Warnings), "metadata.name: "+why)
	} else {
		v.Errors = append(v.Errors, field.Invalid(field.NewPath("metadata", "name"), name, why))
	}
	return v
}
