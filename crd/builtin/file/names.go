package file

import (
	names "k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	ipvalidation "k8s.io/apimachinery/pkg/util/validation"
)

// NameRule is what metadata.name has to be.
type NameRule string

// Check is the function that checks names.
func (r NameRule) Check() validation.ValidateNameFunc {
	switch r {
	case "dns-label":
		return validation.NameIsDNSLabel
	case "dns-1035-label":
		return validation.NameIsDNS1035Label
	case "path-segment":
		return pathSegment
	case "ip":
		return canonicalIP
	}
	return validation.NameIsDNSSubdomain
}

// pathSegment checks a name that stands in a path; a prefix of one, to which
// something is to be added, may be what a whole name may not.
func pathSegment(name string, prefix bool) []string {
	if prefix {
		return names.IsPathSegmentPrefix(name)
	}
	return names.IsPathSegmentName(name)
}

// canonicalIP checks a name that is an IP address in the one form that it has. To
// what a prefix becomes nothing can be added.
func canonicalIP(name string, _ bool) (problems []string) {
	for _, p := range ipvalidation.IsValidIP(nil, name) {
		problems = append(problems, p.Detail)
	}
	return problems
}
