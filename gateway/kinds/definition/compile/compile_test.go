package compile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/plugins"
)

func stored(t *testing.T, tree map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func tree(established string) map[string]any {
	names := map[string]any{"plural": "tabs", "singular": "tab", "kind": "Tab", "listKind": "TabList"}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "tabs.example.com", "uid": "u"},
		"spec": map[string]any{"group": "example.com", "scope": "Cluster", "names": names, "versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
		}}},
		"status": map[string]any{"acceptedNames": names, "conditions": []any{map[string]any{"type": "Established", "status": established}}},
	}
}

func TestDefinition(t *testing.T) {
	d, err := Definition(stored(t, tree("True")), nil)
	if err != nil || d == nil || d.Plural != "tabs" || d.UID != "u" {
		t.Errorf("established: %v, %v", d, err)
	}
	if d, err := Definition(stored(t, tree("False")), nil); err != nil || d != nil {
		t.Errorf("not established: %v, %v", d, err)
	}
	broken := tree("True")
	broken["spec"] = "x"
	if d, err := Definition(stored(t, broken), nil); err == nil || d != nil {
		t.Errorf("unreadable: %v, %v", d, err)
	}
}

// refusing refuses objects that say so.
type refusing struct{}

func (refusing) Epoch() uint64 { return 7 }
func (refusing) Convert(_ context.Context, desired string, objects [][]byte) ([][]byte, error) {
	out := make([][]byte, len(objects))
	for i, o := range objects {
		if bytes.Contains(o, []byte("bad")) {
			return nil, errors.New("no such luck")
		}
		out[i] = bytes.Replace(o, []byte("example.com/v1"), []byte(desired), 1)
	}
	return out, nil
}

// modules are found by a function; one is known.
type modules func(name string) *conversion.Bulk

func (m modules) Converter(name string) *conversion.Bulk         { return m(name) }
func (modules) Known(name string) bool                           { return name == "mine" }
func (modules) Count(string, plugins.Hook, time.Duration, error) {}

func converters(log *bytes.Buffer) Converters {
	return Converters{
		Modules: modules(func(string) *conversion.Bulk { return conversion.Batched(refusing{}, conversion.Batch{}) }),
		Metrics: metrics.New(), Log: zerolog.New(log),
	}
}

func widgets(strategy apiextensionsv1.ConversionStrategyType, url string) *crd.Definition {
	return &crd.Definition{Group: "example.com", Plural: "tabs", Conversion: &apiextensionsv1.CustomResourceConversion{
		Strategy: strategy, Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &url},
		},
	}}
}

func TestConverterNone(t *testing.T) {
	c := converters(&bytes.Buffer{})
	withoutWebhook := widgets(apiextensionsv1.WebhookConverter, "wasm://m")
	withoutWebhook.Conversion.Webhook = nil
	for name, d := range map[string]*crd.Definition{
		"no conversion": {}, "None": widgets(apiextensionsv1.NoneConverter, "wasm://m"), "no webhook": withoutWebhook,
	} {
		if conv, err := c.Converter(d); conv != nil || err != nil {
			t.Errorf("%s: %v, %v", name, conv, err)
		}
	}
}

func object(name string) []byte {
	return []byte(`{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"` + name + `"}}`)
}

// rendered are the metrics of modules.
func rendered(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	body, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(body)) {
		if strings.HasPrefix(line, "wasmgate_plugin_calls") || strings.HasPrefix(line, "wasmgate_conversion_objects") {
			out.WriteString(line)
		}
	}
	return out.String()
}

func TestConverterModule(t *testing.T) {
	var log bytes.Buffer
	c := converters(&log)
	asked := ""
	module := c.Modules
	c.Modules = modules(func(name string) *conversion.Bulk { asked = name; return module.Converter(name) })
	conv, err := c.Converter(widgets(apiextensionsv1.WebhookConverter, "wasm://mine"))
	if err != nil || asked != "mine" || conv.Epoch() != 7 {
		t.Fatalf("%v, module %q", err, asked)
	}
	out, err := conv.Convert(t.Context(), "example.com/v2", [][]byte{object("a"), object("b")})
	if err != nil || len(out) != 2 || !bytes.Contains(out[1], []byte("example.com/v2")) {
		t.Fatalf("%s, %v", out, err)
	}
	got := rendered(t, c.Metrics)
	if !strings.Contains(got, `module="mine",result="success"} 1`) || !strings.Contains(got, "wasmgate_conversion_objects_total 2") || log.Len() != 0 {
		t.Errorf("after a good call: %s%s", got, log.String())
	}
	if _, err := conv.Convert(t.Context(), "example.com/v2", [][]byte{object("bad")}); err == nil {
		t.Fatal("converted")
	}
	got = rendered(t, c.Metrics)
	if !strings.Contains(got, `module="mine",result="error"} 1`) || !strings.Contains(got, "wasmgate_conversion_objects_total 2") {
		t.Errorf("after a bad call: %s", got)
	}
	for _, want := range []string{`"module":"mine"`, `"to":"example.com/v2"`, `"objects":1`, "no such luck"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s: %s", want, log.String())
		}
	}
	invented, err := c.Converter(widgets(apiextensionsv1.WebhookConverter, "wasm://invented"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := invented.Convert(t.Context(), "example.com/v2", [][]byte{object("a")}); err != nil {
		t.Fatal(err)
	}
	if got := rendered(t, c.Metrics); strings.Contains(got, "invented") || !strings.Contains(got, `module="",result="success"} 1`) {
		t.Errorf("a name that a definition invents: %s", got)
	}
	// A few failures are logged, not each.
	for range 20 {
		_, _ = conv.Convert(t.Context(), "example.com/v2", [][]byte{object("bad")})
	}
	if n := strings.Count(log.String(), "conversion failed"); n > 3 {
		t.Errorf("%d failures are logged", n)
	}
}

// renaming replies other objects than it was sent.
type renaming struct{ refusing }

func (renaming) Convert(_ context.Context, desired string, _ [][]byte) ([][]byte, error) {
	return [][]byte{[]byte(`{"apiVersion":"` + desired + `","kind":"Tab","metadata":{"name":"what nobody may see"}}`)}, nil
}

// Those who read the log need not be allowed to read objects.
func TestTheLogQuotesNoReply(t *testing.T) {
	var log bytes.Buffer
	c := converters(&log)
	c.Modules = modules(func(string) *conversion.Bulk { return conversion.Batched(renaming{}, conversion.Batch{}) })
	conv, err := c.Converter(widgets(apiextensionsv1.WebhookConverter, "wasm://mine"))
	if err != nil {
		t.Fatal(err)
	}
	const secret = "what nobody may see"
	if _, err := conv.Convert(t.Context(), "example.com/v2", [][]byte{object("a")}); err == nil || !strings.Contains(err.Error(), secret) {
		t.Errorf("the client is told %v", err)
	}
	if got := log.String(); !strings.Contains(got, "conversion failed") || strings.Contains(got, secret) {
		t.Errorf("logged %s", got)
	}
}

func TestConverterWebhook(t *testing.T) {
	var log bytes.Buffer
	c := converters(&log)
	c.Modules = modules(func(string) *conversion.Bulk { t.Error("a module was asked for"); return nil })
	conv, err := c.Converter(widgets(apiextensionsv1.WebhookConverter, "https://127.0.0.1:1/"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conv.Convert(t.Context(), "example.com/v2", [][]byte{object("a")}); err == nil {
		t.Error("converted without a webhook")
	}
	if !strings.Contains(log.String(), `"definition":"tabs.example.com"`) {
		t.Errorf("logged %s", log.String())
	}
	if got := rendered(t, c.Metrics); strings.Contains(got, "result=") {
		t.Errorf("a webhook's call is counted as a module's: %s", got)
	}
	if text, err := c.Metrics.Render(); err != nil || !strings.Contains(string(text), `apiserver_conversion_webhook_request_total{failure_type="conversion_webhook_call_failure",result="failure"} 1`) {
		t.Errorf("the call is not counted: %v", err)
	}
	bad := widgets(apiextensionsv1.WebhookConverter, "https://127.0.0.1:1/")
	bad.Conversion.Webhook.ClientConfig.CABundle = []byte("no certificate")
	if conv, err := c.Converter(bad); err == nil {
		t.Errorf("a converter without an authority: %v", conv)
	}
}

// A webhook may be a service, for whose errors it is named so.
func TestWhereWebhooksAre(t *testing.T) {
	url := "https://example.com/"
	service := &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "a", Name: "b"}}
	for want, c := range map[string]*apiextensionsv1.WebhookClientConfig{"": nil, " ": {}, url: {URL: &url}, "svc/a/b": service} {
		if got := where(c); got != strings.TrimSpace(want) {
			t.Errorf("%+v is at %q, want %q", c, got, want)
		}
	}
	for name, c := range map[string]*apiextensionsv1.WebhookClientConfig{"a service": service, "nothing": {}, "none": nil} {
		d := widgets(apiextensionsv1.WebhookConverter, url)
		d.Conversion.Webhook.ClientConfig = c
		if conv, err := converters(&bytes.Buffer{}).Converter(d); (err == nil) != (c == service) || (conv == nil) != (c != service) {
			t.Errorf("%s: %v, %v", name, conv, err)
		}
	}
}
