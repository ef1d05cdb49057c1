package extend

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// validateFamilies lets a service that has addresses keep the first of them, and of its
// families; the second comes and, if that is said, goes. Services without addresses
// of their own are free.
func validateFamilies(obj, old map[string]any) (errs field.ErrorList) {
	spec, was := object.Child(obj, "spec"), object.Child(old, "spec")
	if old == nil || spec["type"] == "ExternalName" || was["type"] == "ExternalName" {
		return nil
	}
	bare, before := isHeadless(spec), isHeadless(was)
	if bare && before {
		return nil
	}
	policy := spec["ipFamilyPolicy"]
	check := func(name, item string) {
		path, now, had := field.NewPath("spec", name), listAt(spec, name), listAt(was, name)
		if name == "clusterIPs" {
			now, had = addressesIn(spec), addressesIn(was)
		}
		for i := range had {
			if i < len(now) && now[i] != had[i] && (i == 0 || len(now) == len(had)) {
				errs = append(errs, field.Invalid(path.Index(i), now, "may not change once set"))
			}
		}
		if len(now) > 0 && len(now) < len(had) && policy != "SingleStack" {
			errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilyPolicy"), policy, "must be set to 'SingleStack' when releasing the secondary "+item))
		}
	}
	check("clusterIPs", "clusterIP")
	if bare == before {
		check("ipFamilies", "ipFamily")
	}
	return errs
}

// isHeadless tells that a service has no address of its own.
func isHeadless(spec map[string]any) bool {
	ips := addressesIn(spec)
	return len(ips) == 1 && ips[0] == "None"
}

// addressesIn are those of a service, of which those that were stored before there were
// several name one alone.
func addressesIn(spec map[string]any) []any {
	if l := listAt(spec, "clusterIPs"); len(l) > 0 {
		return l
	}
	if ip, _ := spec["clusterIP"].(string); ip != "" {
		return []any{ip}
	}
	return nil
}

func listAt(m map[string]any, name string) []any {
	l, _ := m[name].([]any)
	return l
}
