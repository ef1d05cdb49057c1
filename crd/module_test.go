package crd

import "testing"

func TestModuleName(t *testing.T) {
	for text, want := range map[string]string{
		"wasm://tabs": "tabs", "WASM://tabs": "tabs", "wasm://tabs/": "tabs", "wasm://a.b-c": "a.b-c",
		"https://tabs/": "-", "wasms://tabs": "-", "tabs": "-", "": "-", "wasm://%zz": "-",
		"wasm://": "", "wasm:tabs": "",
	} {
		name, ok := ModuleName(text)
		if !ok {
			name = "-"
		}
		if name != want {
			t.Errorf("%q names %q, want %q", text, name, want)
		}
	}
}
