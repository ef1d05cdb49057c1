package extend

import (
	"fmt"
	"strings"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type svm = storagemigrationv1.StorageVersionMigration

// validateMigration tells of a change of the whole after what is wrong with the
// new state.
func validateMigration(subresource string, m, old *svm) field.ErrorList {
	if subresource == "status" {
		return validateMigrationStatus(m, old)
	}
	errs := ValidateMeta(&m.ObjectMeta, false, apivalidation.NameIsDNSSubdomain)
	path := field.NewPath("spec", "resource")
	r := m.Spec.Resource
	if r.Resource == "" {
		errs = append(errs, field.Required(path.Child("resource"), "resource is required to be set"))
	} else if msgs := validation.IsDNS1035Label(r.Resource); len(msgs) > 0 {
		errs = append(errs, field.Invalid(path.Child("resource"), r.Resource, strings.Join(msgs, ",")))
	}
	if r.Group != "" {
		if msgs := validation.IsDNS1123Subdomain(r.Group); len(msgs) > 0 {
			errs = append(errs, field.Invalid(path.Child("group"), r.Group, strings.Join(msgs, ",")))
		}
	}
	if old == nil {
		return errs
	}
	errs = append(errs, validateMetaUpdate(&m.ObjectMeta, &old.ObjectMeta)...)
	return append(errs, apivalidation.ValidateImmutableField(m.Spec, old.Spec, field.NewPath("spec"))...)
}

func validateMigrationStatus(m, old *svm) field.ErrorList {
	errs := validateMetaUpdate(&m.ObjectMeta, &old.ObjectMeta)
	path := field.NewPath("status")
	if rv := m.Status.ResourceVersion; rv != "" {
		if _, err := resourceversion.CompareResourceVersion(rv, rv); err != nil {
			errs = append(errs, field.Invalid(path.Child("resourceVersion"), rv, err.Error()))
		}
	}
	conditions := path.Child("conditions")
	errs = append(errs, metav1validation.ValidateConditions(m.Status.Conditions, conditions)...)
	if before := old.Status.ResourceVersion; before != "" && before != m.Status.ResourceVersion {
		errs = append(errs, field.Invalid(path.Child("resourceVersion"), m.Status.ResourceVersion, "field is immutable"))
	}
	succeeded, failed := storagemigrationv1.MigrationSucceeded, storagemigrationv1.MigrationFailed
	if is(m, succeeded) && is(m, failed) {
		errs = append(errs, field.Invalid(conditions, m.Status.Conditions, "Both success and failed conditions cannot be true at the same time"))
	}
	for _, end := range []struct {
		condition storagemigrationv1.MigrationConditionType
		name      string
	}{{succeeded, "Success"}, {failed, "Failed"}} {
		if is(old, end.condition) && !is(m, end.condition) {
			message := fmt.Sprintf("%s condition cannot be set to false once it is true", end.name)
			errs = append(errs, field.Invalid(conditions, m.Status.Conditions, message))
		}
	}
	return errs
}

func is(m *svm, condition storagemigrationv1.MigrationConditionType) bool {
	for _, c := range m.Status.Conditions {
		if c.Type == string(condition) {
			return c.Status == metav1.ConditionTrue
		}
	}
	return false
}
