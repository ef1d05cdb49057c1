package formats

import (
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// localPath is a path below a folder that it does not leave.
func localPath(s string) (problems []string) {
	if path.IsAbs(s) {
		problems = append(problems, "must be a relative path")
	}
	return append(problems, noParent(s)...)
}

// filePath is the path of a file that is made: not one of those that a kubelet
// makes beside them, whose names begin with two dots.
func filePath(s string) []string {
	problems := localPath(s)
	if strings.HasPrefix(s, "..") && !strings.HasPrefix(s, "../") {
		problems = append(problems, "must not start with '..'")
	}
	return problems
}

func noParent(s string) []string {
	if slices.Contains(strings.Split(s, "/"), "..") {
		return []string{"must not contain '..'"}
	}
	return nil
}

func absolute(s string) []string {
	if !path.IsAbs(s) {
		return []string{"must be an absolute path"}
	}
	return nil
}

// search is a domain that names are looked for in.
func search(s string) []string {
	if s == "." {
		return nil
	}
	return validation.IsDNS1123SubdomainWithUnderscore(strings.TrimSuffix(s, "."))
}

// iscsiNames are the forms of the names of initiators and targets, by how they
// begin.
var iscsiNames = map[string]*regexp.Regexp{
	"iqn": regexp.MustCompile(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`),
	"eui": regexp.MustCompile(`^eui.[[:alnum:]]{16}$`),
	"naa": regexp.MustCompile(`^naa.[[:alnum:]]{32}$`),
}

func iscsiName(s string) []string {
	form := iscsiNames[s[:min(len(s), len("iqn"))]]
	switch {
	case form == nil:
		return []string{"must be valid format starting with iqn, eui, or naa"}
	case !form.MatchString(s):
		return []string{"must be valid format"}
	}
	return nil
}

const maxSysctl = 253

var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func sysctl(s string) []string {
	if len(s) <= maxSysctl && sysctlName.MatchString(s) {
		return nil
	}
	return []string{"must have at most 253 characters and match regex " + sysctlName.String()}
}

// maxDriver is how long the name of a CSI driver may be.
const maxDriver = 63

func csiDriver(v any, at *field.Path) field.ErrorList {
	s, _ := v.(string)
	if s == "" {
		return nil
	}
	var errs field.ErrorList
	if len(s) > maxDriver {
		errs = append(errs, field.TooLong(at, s, maxDriver))
	}
	return append(errs, problems(at, s, validation.IsDNS1123Subdomain(strings.ToLower(s)))...)
}

// maxSigner is how long the name of a signer may be after its domain.
const maxSigner = 571

// signerName is a domain and a path that says which of its signers is meant.
func signerName(v any, at *field.Path) field.ErrorList {
	s, _ := v.(string)
	domain, below, ok := strings.Cut(s, "/")
	switch {
	case s == "":
		return nil
	case !ok || strings.Contains(below, "/"):
		return field.ErrorList{field.Invalid(at, s, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	errs := problems(at, s, validation.IsDNS1123Subdomain(domain))
	if !strings.Contains(domain, ".") {
		errs = append(errs, field.Invalid(at, s, "should be a domain with at least two segments separated by dots"))
	}
	errs = append(errs, problems(at, s, validation.IsDNS1123Subdomain(below))...)
	if len(s) > maxSigner {
		errs = append(errs, field.TooLong(at, s, maxSigner))
	}
	return errs
}

// address is an IP address, also where none counts as a wrong one.
func address(v any, at *field.Path) field.ErrorList {
	s, _ := v.(string)
	return validation.IsValidIPForLegacyField(at, s, true, nil)
}

// endpointIP is an address that traffic from elsewhere can be sent to.
func endpointIP(v any, at *field.Path) field.ErrorList {
	s, _ := v.(string)
	if errs := address(v, at); errs != nil {
		return errs
	}
	ip, err := netip.ParseAddr(s)
	if err != nil { // of an old form
		return nil
	}
	var errs field.ErrorList
	for _, c := range []struct {
		is  bool
		why string
	}{
		{ip.IsUnspecified(), "may not be unspecified (" + s + ")"},
		{ip.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{ip.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{ip.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		if c.is {
			errs = append(errs, field.Invalid(at, s, c.why))
		}
	}
	return errs
}
