package compile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/compile"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/plugins"
)

// absent is the converter of a module that is not there.
type absent struct{}

func (absent) Epoch() uint64 { return 0 }
func (absent) Convert(context.Context, string, [][]byte) ([][]byte, error) {
	return nil, errors.New("there is no such module")
}

// counting are modules of which one is known and none there; it keeps what is counted.
type counting []string

func (*counting) Converter(string) *conversion.Bulk {
	return conversion.Batched(absent{}, conversion.Batch{})
}
func (*counting) Known(name string) bool { return name == "known" }
func (c *counting) Count(name string, hook plugins.Hook, _ time.Duration, err error) {
	*c = append(*c, fmt.Sprint(name, " ", hook, " ", err != nil))
}

// A definition can name any module; only those that exist become labels.
func TestNamesThatDefinitionsInventAreNoLabels(t *testing.T) {
	m := metrics.New()
	var counted counting
	c := compile.Converters{Modules: &counted, Metrics: m, Log: zerolog.Nop()}
	for _, name := range []string{"known", "invented"} {
		url := "wasm://" + name
		converter, err := c.Converter(&crd.Definition{Conversion: &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &url}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		object := []byte(`{"apiVersion":"example.com/v1","kind":"K","metadata":{"name":"a"}}`)
		if _, err := converter.Convert(t.Context(), "example.com/v2", [][]byte{object}); err == nil {
			t.Fatal("converted")
		}
	}
	if want := []string{"known wasmgate_convert true"}; !slices.Equal(counted, want) {
		t.Errorf("counted %q", counted)
	}
	out, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	if !strings.Contains(text, `module="known"`) || !strings.Contains(text, `module=""`) || strings.Contains(text, "invented") {
		t.Error("labels of modules:\n" + text)
	}
}
