package e2e

import (
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/layouts"
)

// TestVersionsWithOtherFields_VER09 tells what becomes of autoscalers and events at
// the versions that have other fields, and compares each reply with
// kube-apiserver's.
func TestVersionsWithOtherFields_VER09(t *testing.T) {
	stories := layouts.Stories()
	if err := exchange.Differ(stories, filepath.Join("..", "..", layouts.Differences)); err != nil {
		t.Fatal(err)
	}
	tellAll(t, stories, layouts.File)
}
