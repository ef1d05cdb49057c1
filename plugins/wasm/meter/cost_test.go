package meter

import (
	"testing"

	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// Instructions whose cost depends on an operand are those that the reader of
// modules counts as branches.
func TestBulkInstructionsAreTheReaders(t *testing.T) {
	for op := range binary.Opcode(0x10000) {
		if _, ok := bulk[op]; ok != op.Bulk() {
			t.Errorf("0x%x: %v", uint32(op), ok)
		}
	}
}
