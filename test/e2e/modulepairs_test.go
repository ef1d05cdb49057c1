package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// oneWay is a module that converts in one direction only.
func oneWay(t *testing.T) (file string) {
	t.Helper()
	return goModule(t, `package main

import "github.com/wasmgate/wasmgate/sdk"

func init() { sdk.Convert("v1beta1", "v1", func(*sdk.Object) error { return nil }) }

func main() {}
`)
}

// A module says which versions it converts; a definition that needs others is
// warned of when it is written, and the module says so from then on.
func TestAMissingDirectionIsSaidBeforeItIsNeeded_WP01(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api, path, k := g.API(t), modulePath+"/tabs", g.Kubectl(t)
	one, both := oneWay(t), converter(t, `return nil`)
	mustContain(t, g.CLI(t, "module", "push", "tabs", one), "ready")
	mustContain(t, g.CLI(t, "module", "list"), "CONVERTS", "v1beta1->v1 ")
	if r := api.Get(path).Equal("status.conversions.0.from", "v1beta1").Equal("status.conversions.0.to", "v1"); condition(r.Object(), "ConversionsComplete")["type"] != nil {
		t.Errorf("nothing refers to it: %s", r.Body)
	}

	crd := parse(t, strings.NewReplacer("GROUP", "g"+unique()+".example.com", "SCHEMA", cronTabSchema).Replace(cronTabCRD))
	crd.Set("spec.conversion", wasmConversion("tabs"))
	storeAt(crd, "v1beta1")
	manifest, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	_, warned, err := k.RunInput(string(manifest), "apply", "-f", "-")
	if err != nil {
		t.Fatal(warned, err)
	}
	const lacks = `WasmModule "tabs" does not convert v1 to v1beta1, which this definition needs`
	mustContain(t, warned, "Warning: spec.conversion.webhook.clientConfig.url: "+lacks)
	missing := func(status, reason string) object {
		t.Helper()
		r := api.Eventually(path, func(r *harness.Reply) bool {
			c := condition(r.Object(), "ConversionsComplete")
			return c["status"] == status && c["reason"] == reason
		})
		return condition(r.Object(), "ConversionsComplete")
	}
	name := crd.Str("metadata.name")
	mustContain(t, missing("False", "ConversionMissing").Str("message"), "customresourcedefinitions/"+name+" needs v1 to v1beta1")
	mustContain(t, g.CLI(t, "module", "list"), "ConversionMissing")
	api.Eventually(namespacePath+"/default/events?fieldSelector=involvedObject.name=tabs", func(r *harness.Reply) bool { return r.Contains(`"reason":"ConversionMissing"`) })

	mustContain(t, g.CLI(t, "module", "push", "tabs", both), "ready")
	missing("True", "Complete")
	mustContain(t, g.CLI(t, "module", "list"), "v1<->v1beta1")
	if _, warned, err := k.RunInput(string(manifest), "apply", "-f", "-"); err != nil || strings.Contains(warned, "does not convert") {
		t.Errorf("warned of a module that converts all: %s", warned)
	}
	// A newer revision that lacks what there was: whoever lets it serve is told at once.
	const warning = "Warning: wasmmodule/tabs lacks conversions: customresourcedefinitions/"
	mustContain(t, g.CLI(t, "module", "push", "tabs", one), "ready", warning+name+" needs v1 to v1beta1")
	missing("False", "ConversionMissing")
	if out := g.CLI(t, "module", "rollback", "tabs"); !strings.Contains(out, "rolled back") || strings.Contains(out, "Warning") {
		t.Errorf("the rollback to what converts all says\n%s", out)
	}
	mustContain(t, g.CLI(t, "module", "rollback", "tabs"), "rolled back", warning+name)
	g.CLI(t, "module", "rollback", "tabs")
	api.Merge(path, object{"spec": object{"rollout": "Shadow"}}).Want(200)
	mustContain(t, g.CLI(t, "module", "push", "tabs", one), "waits to be promoted")
	mustContain(t, g.CLI(t, "module", "promote", "tabs", "--force"), "promoted", warning+name)
	if out := g.CLI(t, "module", "push", "tabs", both); !strings.Contains(out, "waits to be promoted") || strings.Contains(out, "Warning") {
		t.Errorf("what mends the lack is warned of:\n%s", out)
	}
}
