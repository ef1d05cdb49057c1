// Package version owns the order of API versions: GA before beta before alpha,
// higher numbers first, names of any other form last and alphabetical.
//
// It knows version names only; it must not know definitions or objects.
package version

import "k8s.io/apimachinery/pkg/version"

// Compare is negative when a has priority over b, positive when b has priority
// over a, and zero only when they are the same name.
func Compare(a, b string) int {
	return version.CompareKubeAwareVersionStrings(b, a)
}
