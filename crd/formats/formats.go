// Package formats owns the checks of values that the files of built-in kinds name:
// those of apimachinery, with its messages, and those of what a pod may say that
// takes more than a line.
//
// It must not know kinds, nor where in an object a value is.
package formats

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Format checks a value that is there.
type Format func(v any, path *field.Path) field.ErrorList

// texts are the checks of strings that files may name: those of apimachinery,
// with its messages.
var texts = map[string]func(string) []string{
	"dns-label":        validation.IsDNS1123Label,
	"dns-subdomain":    validation.IsDNS1123Subdomain,
	"dns-1035-label":   validation.IsDNS1035Label,
	"host":             host,
	"wildcard-dns":     validation.IsWildcardDNS1123Subdomain,
	"qualified-name":   func(s string) []string { return validation.IsQualifiedName(s) },
	"label-value":      validation.IsValidLabelValue,
	"config-map-key":   validation.IsConfigMapKey,
	"env-var-name":     validation.IsRelaxedEnvVarName,
	"port-name":        validation.IsValidPortName,
	"absolute-path":    absolute,
	"no-parent-path":   noParent,
	"http-header-name": validation.IsHTTPHeaderName,
	"path-segment":     content.IsPathSegmentName,
	"schedule":         schedule,
	"time-zone":        timeZone,
	"driver-name":      func(s string) []string { return validation.IsQualifiedName(strings.ToLower(s)) },
	"dns-search":       search,
	"local-path":       localPath,
	"file-path":        filePath,
	"iscsi-name":       iscsiName,
	"sysctl":           sysctl,
	"windows-user":     windowsUser,

	"generated-subdomain": func(s string) []string { return apivalidation.NameIsDNSSubdomain(s, true) },
}

// others are the checks of other values.
var others = map[string]Format{
	"port":             number(validation.IsValidPortNum),
	"port-or-name":     portOrName,
	"user-id":          number(func(n int) []string { return validation.IsValidUserID(int64(n)) }),
	"group-id":         number(func(n int) []string { return validation.IsValidGroupID(int64(n)) }),
	"ip":               ip,
	"cidr":             cidr,
	"domain-path":      domainPath,
	"domain-path!":     wholeDomainPath,
	"percent-or-count": percentOrCount,
	"up-to-all":        notAboveAll,
	"quantity":         quantity,
	"label-selector":   labelSelector,
	"labels":           labels,
	"annotations":      annotations,
	"pod-template":     podTemplate,
	"ip-address":       address,
	"endpoint-ip":      endpointIP,
	"csi-driver":       csiDriver,
	"signer-name":      signerName,

	"extended-resource":   extendedResource,
	"qualified-attribute": qualifiedAttribute,
	"device-toleration":   deviceToleration,
	"any":                 func(any, *field.Path) field.ErrorList { return nil },
	"amounts":             amountsOfNode,
	"container-resource":  containerResource,
	"resource":            resourceName,
	"container-resources": containerResources,
	"container-limits":    containerLimits,
	"pod-resources":       podResources,
	"pod-totals":          podTotals,
	"declared-features":   declaredFeatures,
	"env-field":           fieldOf(envFields),
	"volume-field":        fieldOf(volumeFields),
	"resource-field":      resourceField,
	"projected-paths":     projectedPaths,
	"template-metadata":   templateMetadata,
	"env-var":             envVar,
	"parameters":          parameters,
	"flex-options":        flexOptions,
	"dealt-queues":        dealtQueues,
	"json-object":         jsonObject,
	"selected-fields":     selectedFields,
	"selected-labels":     selectedLabels,
	"toleration":          toleration,
	"node-requirement":    nodeRequirement,
	"node-field":          nodeField,
}

// Of is the check of a name, nil for no name. A name that ends with "!" is that of
// a check of texts that are not let be empty.
func Of(name string) (Format, error) {
	if name == "" {
		return nil, nil
	}
	if f := texts[name]; f != nil {
		return text(f), nil
	}
	if f := texts[strings.TrimSuffix(name, "!")]; f != nil {
		return func(v any, path *field.Path) field.ErrorList {
			s, _ := v.(string)
			return problems(path, s, f(s))
		}, nil
	}
	if f := others[name]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("there is no format %q", name)
}

// OfText is the check of texts of a name, nil if there is none.
func OfText(name string) func(string) []string { return texts[name] }

// text makes a format of a check of strings. Empty ones are none: whether there
// has to be one is another question.
func text(check func(string) []string) Format {
	return func(v any, path *field.Path) field.ErrorList {
		s, _ := v.(string)
		if s == "" {
			return nil
		}
		return problems(path, s, check(s))
	}
}

func number(check func(int) []string) Format {
	return func(v any, path *field.Path) field.ErrorList {
		n, ok := v.(int64)
		if !ok {
			return nil
		}
		return problems(path, n, check(int(n)))
	}
}

func problems(path *field.Path, v any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, m := range messages {
		errs = append(errs, field.Invalid(path, v, m))
	}
	return errs
}

func ip(v any, path *field.Path) field.ErrorList {
	s, _ := v.(string)
	if s == "" {
		return nil
	}
	return validation.IsValidIPForLegacyField(path, s, true, nil)
}

func cidr(v any, path *field.Path) field.ErrorList {
	s, _ := v.(string)
	if s == "" {
		return nil
	}
	return validation.IsValidCIDRForLegacyField(path, s, true, nil)
}

func domainPath(v any, path *field.Path) field.ErrorList {
	if v == "" {
		return nil
	}
	return wholeDomainPath(v, path)
}

func wholeDomainPath(v any, path *field.Path) field.ErrorList {
	s, _ := v.(string)
	return validation.IsDomainPrefixedPath(path, s)
}

// notAboveAll is percentOrCount that is not more than all there is.
func notAboveAll(v any, path *field.Path) field.ErrorList {
	errs := percentOrCount(v, path)
	s, _ := v.(string)
	if n, err := strconv.Atoi(strings.TrimSuffix(s, "%")); errs == nil && err == nil && n > 100 {
		errs = append(errs, field.Invalid(path, s, "must not be greater than 100%"))
	}
	return errs
}

// percentOrCount is a number that is not negative, or a percentage.
func percentOrCount(v any, path *field.Path) field.ErrorList {
	switch x := v.(type) {
	case int64:
		return apivalidation.ValidateNonnegativeField(x, path)
	case string:
		return problems(path, x, validation.IsValidPercent(x))
	}
	return nil
}

func quantity(v any, path *field.Path) field.ErrorList {
	q, err := resource.ParseQuantity(fmt.Sprint(v))
	if err == nil && q.Sign() < 0 {
		return field.ErrorList{field.Invalid(path, q.String(), apivalidation.IsNegativeErrorMsg)}
	}
	return nil // the Go type has parsed it
}

func portOrName(v any, path *field.Path) field.ErrorList {
	switch x := v.(type) {
	case int64:
		return problems(path, x, validation.IsValidPortNum(int(x)))
	case string:
		return problems(path, x, validation.IsValidPortName(x))
	}
	return nil
}

func labelSelector(v any, path *field.Path) field.ErrorList {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	var s metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m, &s); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return metav1validation.ValidateLabelSelector(&s, metav1validation.LabelSelectorValidationOptions{}, path)
}

func labels(v any, path *field.Path) field.ErrorList {
	return metav1validation.ValidateLabels(textsOf(v), path)
}

func annotations(v any, path *field.Path) field.ErrorList {
	return apivalidation.ValidateAnnotations(textsOf(v), path)
}

// podTemplate checks the labels and annotations of a template, which
// kube-apiserver names without the metadata that they are in.
func podTemplate(v any, path *field.Path) field.ErrorList {
	m, _ := v.(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	return append(labels(meta["labels"], path.Child("labels")), annotations(meta["annotations"], path.Child("annotations"))...)
}

func textsOf(v any) map[string]string {
	m, _ := v.(map[string]any)
	out := make(map[string]string, len(m))
	for k, x := range m {
		out[k], _ = x.(string)
	}
	return out
}

// host is a name in the DNS, or a star and one.
func host(s string) []string {
	if strings.Contains(s, "*") {
		return validation.IsWildcardDNS1123Subdomain(s)
	}
	return validation.IsDNS1123Subdomain(s)
}
