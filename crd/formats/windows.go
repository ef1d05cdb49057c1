package formats

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
)

// How long the parts of the name of a user of Windows may be.
const (
	maxWindowsDomain = 256 // and not that long
	maxWindowsUser   = 104
)

// netBios is the name of a domain of Windows that is none of the DNS.
var netBios = regexp.MustCompile(`^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$`)

// windowsUser checks the name of a user of Windows, who may be of a domain.
func windowsUser(s string) (problems []string) {
	switch {
	case s == "":
		return []string{"runAsUserName cannot be an empty string"}
	case strings.ContainsFunc(s, unicode.IsControl):
		return []string{"runAsUserName cannot contain control characters"}
	case strings.Count(s, `\`) > 1:
		return []string{"runAsUserName cannot contain more than one backslash"}
	}
	domain, user, hasDomain := strings.Cut(s, `\`)
	if !hasDomain {
		domain, user = "", s
	}
	if len(domain) >= maxWindowsDomain {
		problems = append(problems, fmt.Sprintf("runAsUserName's Domain length must be under %d characters", maxWindowsDomain))
	}
	if hasDomain && !netBios.MatchString(domain) && len(validation.IsDNS1123Subdomain(strings.ToLower(domain))) > 0 {
		problems = append(problems, "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	}
	switch {
	case user == "":
		problems = append(problems, "runAsUserName's User cannot be empty")
	case len(user) > maxWindowsUser:
		problems = append(problems, fmt.Sprintf("runAsUserName's User length must not be longer than %d characters", maxWindowsUser))
	}
	if user != "" && strings.Trim(user, ". ") == "" {
		problems = append(problems, "runAsUserName's User cannot contain only periods or spaces")
	}
	if strings.ContainsAny(user, `"/\:;|=,+*?<>@[]`) {
		problems = append(problems, `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
	return problems
}
