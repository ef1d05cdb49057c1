package definition

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// The URL of a module and that of rules are judged here, and an https URL stands for them
// where the library judges the rest; what it was read from stays as it is.
func TestURLsThatTheLibraryDoesNotKnow(t *testing.T) {
	const rules, module, instead = "it is not the URL of rules", "a path is not permitted in the URL of a module", "https://module.invalid/"
	for url, c := range map[string]struct{ becomes, want string }{
		"wasm://m":               {instead, ""},
		"wasm://m/path":          {instead, module},
		"wasm://rules/r":         {instead, ""},
		"wasm://rules":           {instead, ""}, // a module of that name
		"wasm://rules/r?x=y":     {instead, rules},
		"wasm://rules/R":         {instead, "it does not name rules: "},
		"https://a.example.com":  {"https://a.example.com", ""},
		"http://a.example.com/x": {"http://a.example.com/x", ""},
	} {
		from := &apiextensions.CustomResourceConversion{WebhookClientConfig: &apiextensions.WebhookClientConfig{URL: &url}}
		in := &apiextensions.CustomResourceDefinition{Spec: apiextensions.CustomResourceDefinitionSpec{Conversion: from}}
		errs := replaceModuleURL(in)
		if got := *in.Spec.Conversion.WebhookClientConfig.URL; got != c.becomes || *from.WebhookClientConfig.URL != url {
			t.Errorf("%s becomes %s", url, got)
		}
		if (len(errs) == 0) != (c.want == "") || len(errs) > 0 && (errs[0].Field != "spec.conversion.webhook.clientConfig.url" || !strings.Contains(errs[0].Detail, c.want)) {
			t.Errorf("%s: %v, want %s", url, errs, c.want)
		}
	}
	for _, in := range []*apiextensions.CustomResourceConversion{nil, {}, {WebhookClientConfig: &apiextensions.WebhookClientConfig{}}} {
		if errs := replaceModuleURL(&apiextensions.CustomResourceDefinition{Spec: apiextensions.CustomResourceDefinitionSpec{Conversion: in}}); errs != nil {
			t.Errorf("without a URL: %v", errs)
		}
	}
}

// What is no JSON is told, however far down it is.
func TestWhatCannotBePutInOrder(t *testing.T) {
	for _, v := range []any{map[string]any{"a": make(chan int)}, []any{map[string]any{"a": make(chan int)}}, map[string]any{"a": []any{1, make(chan int)}}} {
		if got, err := (&order{}).append(nil, v); err == nil {
			t.Errorf("%v is %s", v, got)
		}
	}
	if got, err := (&order{}).append(nil, map[string]any{"b": []any{"x", int64(1)}, "a": nil}); err != nil || !json.Valid(got) || string(got) != `{"a":null,"b":["x",1]}` {
		t.Errorf("it is %s, %v", got, err)
	}
}
