package builtin

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

func lease() *crd.Definition {
	docs := coordinationv1.LeaseSpec{}.SwaggerDoc()
	return define(kind[coordinationv1.Lease]{
		group: coordinationv1.GroupName, version: "v1", name: "Lease", plural: "leases", namespaced: true,
		alike: []string{"v1beta1"},
		rules: rules[coordinationv1.Lease]{
			prepareCreate: func(obj map[string]any) { dropCoordination(obj, nil) },
			prepareUpdate: dropCoordination,
			validate: func(l *coordinationv1.Lease) field.ErrorList {
				errs := apivalidation.ValidateObjectMeta(&l.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, metadataPath)
				return append(errs, validateLeaseSpec(&l.Spec)...)
			},
			validateUpdate: func(l, old *coordinationv1.Lease) field.ErrorList {
				errs := apivalidation.ValidateObjectMetaUpdate(&l.ObjectMeta, &old.ObjectMeta, metadataPath)
				return append(errs, validateLeaseSpec(&l.Spec)...)
			},
			createOnUpdate: true,
		},
		columns: []metav1.TableColumnDefinition{nameColumn, column("Holder", docs["holderIdentity"]), ageColumn},
		cells: func(l *coordinationv1.Lease) []any {
			holder := ""
			if l.Spec.HolderIdentity != nil {
				holder = *l.Spec.HolderIdentity
			}
			return []any{l.Name, holder, since(l.CreationTimestamp)}
		},
	})
}

// dropCoordination drops the fields of coordinated leader election, which is
// off by default in Kubernetes, unless the object has them already.
func dropCoordination(obj, old map[string]any) {
	spec, before := child(obj, "spec"), child(old, "spec")
	for _, name := range []string{"strategy", "preferredHolder"} {
		if _, ok := before[name]; !ok {
			delete(spec, name)
		}
	}
}

func validateLeaseSpec(s *coordinationv1.LeaseSpec) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if s.LeaseDurationSeconds != nil && *s.LeaseDurationSeconds <= 0 {
		errs = append(errs, field.Invalid(path.Child("leaseDurationSeconds"), *s.LeaseDurationSeconds, "must be greater than 0"))
	}
	if s.LeaseTransitions != nil && *s.LeaseTransitions < 0 {
		errs = append(errs, field.Invalid(path.Child("leaseTransitions"), *s.LeaseTransitions, "must be greater than or equal to 0"))
	}
	return errs
}
