// Package priority owns an order of versions that are releases, such as
// r2025-04: the newest comes first, then all others as Kubernetes has them.
// Kubernetes itself knows no such names and puts them by alphabet, the oldest
// release first.
//
// examples/priority/module makes a Wasm module of it. It must not know the
// gateway.
package priority

import (
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/sdk"
)

func init() { sdk.Prioritize(NewestRelease) }

// NewestRelease is the order.
func NewestRelease(_ string, versions []string) []string {
	slices.SortStableFunc(versions, func(a, b string) int {
		switch {
		case isRelease(a) && isRelease(b):
			return strings.Compare(b, a)
		case isRelease(a):
			return -1
		case isRelease(b):
			return 1
		}
		return 0
	})
	return versions
}

// isRelease tells names such as r2025-04.
func isRelease(version string) bool {
	year, month, ok := strings.Cut(strings.TrimPrefix(version, "r"), "-")
	return ok && version[0] == 'r' && len(year) == 4 && len(month) == 2 && digits(year) && digits(month)
}

func digits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}
