package openapi

import (
	"strings"
	"testing"
)

// What the library cannot bear costs one document, not the process: fragments
// are made on goroutines of their own.
func TestALibraryThatPanicsIsReported(t *testing.T) {
	f := newFragment(pathSection, "x-extension", []byte(`{}`)) // which the library takes for no path
	onAllCores(2, func(int) {
		if _, err := f.protobuf(); err == nil || !strings.Contains(err.Error(), "panicked") {
			t.Errorf("a fragment without a path: %v", err)
		}
	})
	var reported []error
	bad := newForms(func() string { return "x" }, func() ([]byte, error) { panic("json") }, func() ([]byte, error) { panic("protobuf") },
		func(err error) { reported = append(reported, err) })
	if len(bad.json()) != 0 || len(bad.protobuf()) != 0 || len(reported) != 2 {
		t.Errorf("documents that cannot be made are reported as %v", reported)
	}
}
