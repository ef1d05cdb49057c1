package formats

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// The fields of a pod that its containers may be told: all, by variables, and by
// files.
var (
	podFields = sets.New("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.restartPolicy",
		"spec.serviceAccountName", "spec.schedulerName", "status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs")
	envFields    = sets.New("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs")
	volumeFields = sets.New("metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid")
)

// subscripted is a field with the key of one of its entries.
var subscripted = regexp.MustCompile(`^([^\[]+)\['([^']+)'\]$`)

// fieldOf checks the selection of a pod's field, one of those that are supported.
func fieldOf(supported sets.Set[string]) Format {
	return func(v any, at *field.Path) field.ErrorList {
		m, _ := v.(map[string]any)
		version, _ := m["apiVersion"].(string)
		name, _ := m["fieldPath"].(string)
		wrong := func(why string) field.ErrorList {
			return field.ErrorList{field.Invalid(at.Child("fieldPath"), name, "error converting fieldPath: "+why)}
		}
		entry := subscripted.FindStringSubmatch(name)
		switch {
		case name == "":
			return field.ErrorList{field.Required(at.Child("fieldPath"), "")}
		case version != "v1":
			return wrong("unsupported pod version: " + version)
		case entry != nil && entry[1] == "metadata.annotations":
			return problems(at, strings.ToLower(entry[2]), validation.IsQualifiedName(strings.ToLower(entry[2])))
		case entry != nil && entry[1] == "metadata.labels":
			return problems(at, entry[2], validation.IsQualifiedName(entry[2]))
		case entry != nil:
			return wrong("field label does not support subscript: " + name)
		case name == "spec.host": // as clients of long ago call it
			name = "spec.nodeName"
		case !podFields.Has(name):
			return wrong("field label not supported: " + name)
		}
		if !supported.Has(name) {
			return field.ErrorList{field.NotSupported(at.Child("fieldPath"), name, sets.List(supported))}
		}
		return nil
	}
}

// The resources of a container that it may be told, and in which units.
var (
	containerFields = sets.New("limits.cpu", "limits.memory", "limits.ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage")
	cpuUnits        = sets.New("1m", "1")
	byteUnits       = sets.New("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
)

const byteUnitsOf = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the %s resource"

// resourceField checks the selection of a container's resource.
func resourceField(v any, at *field.Path) field.ErrorList {
	m, _ := v.(map[string]any)
	name, _ := m["resource"].(string)
	divisor, err := resource.ParseQuantity(fmt.Sprint(m["divisor"]))
	_, what, _ := strings.Cut(name, ".")
	pages := hugePages(what) && (strings.HasPrefix(name, "limits.") || strings.HasPrefix(name, "requests."))
	var errs field.ErrorList
	switch {
	case name == "":
		errs = append(errs, field.Required(at.Child("resource"), ""))
	case !containerFields.Has(name) && !pages:
		errs = append(errs, field.NotSupported(at.Child("resource"), name, sets.List(containerFields)))
	}
	if err != nil || divisor.IsZero() {
		return errs
	}
	unit := divisor.String()
	switch {
	case what == "cpu" && !cpuUnits.Has(unit):
		errs = append(errs, field.Invalid(at.Child("divisor"), name, "only divisor's values 1m and 1 are supported with the cpu resource"))
	case what == "memory" && !byteUnits.Has(unit):
		errs = append(errs, field.Invalid(at.Child("divisor"), name, fmt.Sprintf(byteUnitsOf, "memory")))
	case what == "ephemeral-storage" && !byteUnits.Has(unit):
		errs = append(errs, field.Invalid(at.Child("divisor"), name, fmt.Sprintf(byteUnitsOf, "local ephemeral storage")))
	case pages && !byteUnits.Has(unit):
		errs = append(errs, field.Invalid(at.Child("divisor"), name, fmt.Sprintf(byteUnitsOf, "hugepages")))
	}
	return errs
}

// projectedPaths refuses two files of one name in a volume that is put together.
func projectedPaths(v any, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	m, _ := v.(map[string]any)
	meet := func(path any, shown any) {
		if s, _ := path.(string); s != "" && seen.Has(s) {
			errs = append(errs, field.Invalid(at, shown, "conflicting duplicate paths"))
		} else {
			seen.Insert(s)
		}
	}
	for _, source := range object.Objects(m["sources"]) {
		for _, kind := range []string{"secret", "configMap", "downwardAPI"} {
			part, _ := source[kind].(map[string]any)
			for _, item := range object.Objects(part["items"]) {
				shown := part["name"]
				if shown == nil {
					shown = item["path"]
				}
				meet(item["path"], shown)
			}
		}
		bundle, _ := source["clusterTrustBundle"].(map[string]any)
		meet(bundle["path"], bundle["path"])
		certificate, _ := source["podCertificate"].(map[string]any)
		for _, name := range []string{"credentialBundlePath", "keyPath", "certificateChainPath"} {
			meet(certificate[name], certificate[name])
		}
	}
	return errs
}

// inTemplates are the fields of metadata that a template's objects get.
var inTemplates = sets.New("labels", "annotations")

// templateMetadata checks the metadata of a template, which has labels and
// annotations and nothing else.
func templateMetadata(v any, at *field.Path) field.ErrorList {
	m, _ := v.(map[string]any)
	errs := apivalidation.ValidateAnnotations(textsOf(m["annotations"]), at.Child("annotations"))
	errs = append(errs, metav1validation.ValidateLabels(textsOf(m["labels"]), at.Child("labels"))...)
	for _, name := range sets.List(sets.KeySet(m)) {
		if m[name] != nil && !inTemplates.Has(name) {
			errs = append(errs, field.Forbidden(at.Child(name), "cannot be set"))
		}
	}
	return errs
}

// sources are where the value of a variable may come from.
var sources = []string{"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}

// envVar checks that a variable has its value from one place.
func envVar(v any, at *field.Path) field.ErrorList {
	m, _ := v.(map[string]any)
	from, ok := m["valueFrom"].(map[string]any)
	if !ok {
		return nil
	}
	n := 0
	for _, name := range sources {
		if from[name] != nil {
			n++
		}
	}
	value, _ := m["value"].(string)
	switch {
	case n == 0:
		return field.ErrorList{field.Invalid(at.Child("valueFrom"), "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")}
	case value != "":
		return field.ErrorList{field.Invalid(at.Child("valueFrom"), "", "may not be specified when `value` is not empty")}
	case n > 1:
		return field.ErrorList{field.Invalid(at.Child("valueFrom"), "", "may not have more than one field specified at a time")}
	}
	return nil
}
