package openapi

import (
	"strings"
	"testing"
)

// What the library cannot bear costs one document, not the process: fragments
// are made on goroutines of their own.
func TestALibraryThatPanicsIsReported(t *testing.T) {
	f, err := newFragment(pathSection, "x-extension", []byte(`{}`)) // which the library takes for no path
	if err != nil {
		t.Fatal(err)
	}
	onAllCores(2, func(int) {
		if _, err := f.protobuf(); err == nil || !strings.Contains(err.Error(), "panicked") {
			t.Errorf("a fragment without a path: %v", err)
		}
	})
	var reported []error
	bad := newForms(func() string { return "x" }, func() (Body, error) { panic("json") }, func() (Body, error) { panic("protobuf") },
		func(err error) { reported = append(reported, err) })
	if len(bad.json()) != 0 || len(bad.protobuf()) != 0 || len(reported) != 2 {
		t.Errorf("documents that cannot be made are reported as %v", reported)
	}
}
