package crd

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestModuleName(t *testing.T) {
	for text, want := range map[string]string{
		"wasm://tabs": "tabs", "WASM://tabs": "tabs", "wasm://tabs/": "tabs", "wasm://a.b-c": "a.b-c",
		"https://tabs/": "-", "wasms://tabs": "-", "tabs": "-", "": "-", "wasm://%zz": "-",
		"wasm://": "", "wasm:tabs": "", "wasm://rules": "rules", "wasm://rules/": "rules", "wasm://rules/tabs": "-",
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

// The URL of rules has their name in its path, so that a module may be called rules.
func TestRulesURL(t *testing.T) {
	for text, want := range map[string]string{
		"wasm://rules/tabs": "tabs", "wasm://rules": "-", "wasm://rules/": "-", "wasm://tabs/rules": "-", "https://rules/tabs": "-", "wasm://%zz": "-",
	} {
		name, ok := RulesName(text)
		if !ok {
			name = "-"
		}
		if errs := ValidateRulesURL(text, field.NewPath("url")); name != want || (len(errs) == 0) != ok {
			t.Errorf("%q names %q, want %q: %v", text, name, want, errs)
		}
	}
	for _, text := range []string{"wasm://rules/a/b", "wasm://rules/A", "wasm://rules/a?b", "wasm://rules/a#b", "wasm://me@rules/a", "WASM://rules/a"} {
		if errs := ValidateRulesURL(text, field.NewPath("url")); len(errs) != 1 || errs[0].Field != "url" {
			t.Errorf("%q: %v", text, errs)
		}
	}
}

// A URL of a module is its name alone.
func TestValidateModuleURL(t *testing.T) {
	for text, want := range map[string]string{
		"wasm://tabs": "", "wasm://a.b-c": "",
		"wasm://%zz": "invalid URL escape", "wasm://me@tabs": "user information is not permitted", "wasm://tabs/": "a path is not permitted",
		"wasm://tabs?a": "query parameters are not permitted", "wasm://tabs?": "query parameters are not permitted", "wasm://tabs#a": "fragments are not permitted",
		"wasm://tabs#": "fragments are not permitted", "wasm://": "the name of a module must be specified", "wasm:tabs": "the name of a module must be specified",
		"wasm://Tabs": "it does not name a module",
	} {
		errs := ValidateModuleURL(text, field.NewPath("url"))
		if want == "" && len(errs) != 0 || want != "" && (len(errs) != 1 || errs[0].Field != "url" || !strings.Contains(errs[0].Detail, want)) {
			t.Errorf("%q: %v, want %q", text, errs, want)
		}
	}
}
