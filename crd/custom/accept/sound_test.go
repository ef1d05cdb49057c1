package accept

import (
	"strings"
	"testing"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The checks of names agree with the library's, but for what is rare.
func TestQuickNamesAreTheLibrarys(t *testing.T) {
	long := func(n int, s string) string { return strings.Repeat(s, n) }
	names := []string{"", "a", "A", "0", "-", ".", "_", "a-", "-a", "a-b", "a--b", "a.b", "a..b", ".a", "a.", "a_b", "_a", "a_", "aB", "B", "z9", "Z", "a/b", "a/", "/a", "a/b/c", "a.b/c", "a-.b/c", "a.-b/c", "A.b/c", "a_b/c",
		"a b", "é", "é/a", "a/é", "\u212a/a", "a\n", "`", "{", "@", "[", ":", "/", "a/-", "a/B.c_d-e", "a@", "a:", "a`", "a{", "a[",
		long(63, "a"), long(64, "a"), long(63, "a") + "/a", "a/" + long(63, "a"), "a/" + long(64, "a"),
		long(126, "a.") + "a", long(126, "a.") + "aa", long(127, "a.") + "a", long(126, "a.") + "a/b", long(126, "a.") + "aa/b"}
	for _, s := range names {
		for what, c := range map[string]struct {
			quick   bool
			library []string
		}{
			"label":      {IsDNSLabel(s), validation.IsDNS1123Label(s)},
			"subdomain":  {IsSubdomain(s), validation.IsDNS1123Subdomain(s)},
			"value":      {s == "" || isNamePart(s), validation.IsValidLabelValue(s)},
			"key":        {isQualified(s, false), validation.IsQualifiedName(s)},
			"annotation": {isQualified(s, true), validation.IsQualifiedName(strings.ToLower(s))},
			"namespace":  {IsDNSLabel(s), apivalidation.ValidateNamespaceName(s, false)},
		} {
			// The library bounds the whole domain only.
			rare := strings.HasPrefix(s, long(63, "a")) && (what == "subdomain" || strings.Contains(s, "/"))
			if c.quick != (len(c.library) == 0) && !(rare && !c.quick) {
				t.Errorf("%s %q: quick says %t, the library %q", what, s, c.quick, c.library)
			}
		}
	}
}
