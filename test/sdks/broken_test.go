package sdks

import (
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// broken asks for what is no JSON in many places of three cases: whatever is sent is
// answered, and ends no instance.
func broken(t *testing.T, m *wasm.Module) {
	i, err := m.Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { i.Close() }()
	for name, hook := range map[string]plugins.Hook{"convert-as-written": plugins.Convert, "admit-changes": plugins.Admit, "prioritize-reversed": plugins.Prioritize} {
		request := read(t, name+".request.json")
		for at := 0; at < len(request); at += 3 {
			changed := [][]byte{request[:at], request[at:]}
			for _, b := range []byte("\"\\{}[,:\xe2") {
				changed = append(changed, slices.Concat(request[:at], []byte{b}, request[at+1:]))
			}
			for _, sent := range changed {
				if len(sent) == 0 {
					continue
				}
				if _, err := i.CallSeeing(t.Context(), hook, sent, 1, find); err != nil {
					t.Fatalf("%s\n%v", sent, err)
				}
			}
		}
	}
}
