package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/story/layouts"
)

// TestVersionsWithOtherFields_VER09 tells what becomes of autoscalers and events at
// the versions that have other fields, and compares each reply with
// kube-apiserver's.
func TestVersionsWithOtherFields_VER09(t *testing.T) {
	tellAll(t, layouts.Stories(), layouts.Table)
}
