package wasm

import (
	"context"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
)

// Objects are shown up to a size, and so many of them in a call.
func TestLookupsAreBounded_WP02(t *testing.T) {
	size := 0
	l := &lookups{find: func(context.Context, plugins.Object) ([]byte, error) { return make([]byte, size), nil }}
	const name = "/configmaps/n/a"
	for bytes, want := range map[int]uint32{0: lookupFound, plugins.MaxLookupBytes: lookupFound, plugins.MaxLookupBytes + 1: lookupRefused} {
		size = bytes
		if state := l.ask(t.Context(), name); state != want || want == lookupFound && len(l.found) != bytes {
			t.Errorf("%d bytes: state %d, %d bytes are shown", bytes, state, len(l.found))
		}
	}
	size = 1
	for l.made < plugins.MaxLookups {
		if state := l.ask(t.Context(), name); state != lookupFound {
			t.Fatalf("lookup %d of %d: %s", l.made, plugins.MaxLookups, l.found)
		}
	}
	if state := l.ask(t.Context(), name); state != lookupRefused || !strings.Contains(string(l.found), "lookups in one call") {
		t.Errorf("one too many: state %d, %s", state, l.found)
	}
	none := &lookups{}
	if state := none.ask(t.Context(), name); state != lookupRefused || string(none.found) != errNoLookups.Error() {
		t.Errorf("of a conversion: state %d, %s", state, none.found)
	}
}
