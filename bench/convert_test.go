package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/bench/workload"
	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/rules"
	conversionwebhook "github.com/wasmgate/wasmgate/conversion/webhook"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// BenchmarkConversion converts objects of 2 KB, alone and 500 at a time, by the
// module, by rules and by a webhook that do the same. cpu-us/object is processor time,
// which is what counts on a machine that others use too; that of the webhook
// has both ends of the connection in it.
func BenchmarkConversion(b *testing.B) {
	converters := map[string]conversion.Converter{"module": moduleConverter(b), "rules": rulesConverter(b), "webhook": webhookConverter(b)}
	for _, name := range []string{"module", "rules", "webhook"} {
		for _, c := range []struct{ objects, namespaces int }{{1, 1}, {500, 1}, {500, 50}, {500, 500}} {
			of := fmt.Sprintf("%s/%d", name, c.objects)
			if c.namespaces > 1 {
				of += fmt.Sprintf("-of-%d-namespaces", c.namespaces)
			}
			b.Run(of, func(b *testing.B) { benchmarkConversion(b, converters[name], c.objects, c.namespaces) })
		}
	}
}

func benchmarkConversion(b *testing.B, by conversion.Converter, n, namespaces int) {
	objects := make([][]byte, n)
	for i := range objects { // in the order of lists
		home := fmt.Sprintf(`"namespace":"tenant-%d"`, i*namespaces/n)
		objects[i] = bytes.Replace(workload.Object(i, 9), []byte(`"namespace":"default"`), []byte(home), 1)
	}
	if _, err := by.Convert(b.Context(), workload.Group+"/v2", objects); err != nil {
		b.Fatal(err)
	}
	self := &target{pid: os.Getpid()}
	used := self.usage().cpu
	for b.Loop() {
		if _, err := by.Convert(b.Context(), workload.Group+"/v2", objects); err != nil {
			b.Fatal(err)
		}
	}
	used = self.usage().cpu - used
	b.ReportMetric(float64(used.Microseconds())/float64(b.N*n), "cpu-us/object")
}

func moduleConverter(b *testing.B) conversion.Converter {
	e, err := wasm.NewEngine(context.Background(), wasm.Config{})
	if err != nil {
		b.Fatal(err)
	}
	r := registry.New(registry.Config{Compiler: e})
	b.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			b.Error(err)
		}
		if err := e.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	module := plugintest.Build(b, "github.com/wasmgate/wasmgate/bench/module")
	revision := plugins.Revision{Bytes: module, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(module))}
	if _, err := r.Set(b.Context(), "bench", revision); err != nil {
		b.Fatal(err)
	}
	return r.Converter("bench")
}

func rulesConverter(b *testing.B) conversion.Converter {
	r, errs := rules.Compile(rules.Spec{Conversions: []rules.Conversion{{From: "v1", To: "v2", Rules: []rules.Rule{
		{Split: &rules.Split{Field: "spec.hostPort", Separator: ":", Into: []string{"spec.host", "spec.port"}}},
	}}}})
	if len(errs) > 0 {
		b.Fatal(errs)
	}
	return conversion.Batched(r.Converter("bench"), conversion.Batch{})
}

func webhookConverter(b *testing.B) conversion.Converter {
	text, err := webhook()
	if err != nil {
		b.Fatal(err)
	}
	w := &apiextensionsv1.WebhookConversion{ConversionReviewVersions: []string{"v1"}}
	if err := json.Unmarshal([]byte(text), &w.ClientConfig); err != nil {
		b.Fatal(err)
	}
	c, err := conversionwebhook.New(conversionwebhook.Config{Conversion: w})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return conversion.Batched(c, conversion.Batch{})
}
