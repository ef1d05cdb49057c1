package conversionrules

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// converting is an engine with rules called ks, and the source of its rules.
type converting struct {
	*testing.T
	*realengine.Engine
	source *Source
}

func serving(t *testing.T, log zerolog.Logger) converting {
	c := converting{t, ruled(t), New(log)}
	served, err := c.source.Kind().Serve(c.Verbs)
	if err != nil {
		t.Fatal(err)
	}
	if all := served.Controllers(); len(all) != 1 || all[0].Controller.Name() != "conversion-rules" {
		t.Errorf("the controllers are %v", all)
	}
	return c
}

// change changes the rules ks as somebody who does not check them.
func (c converting) change(subresource string, change func(*unstructured.Unstructured)) {
	c.Helper()
	controllertest.MustChange(c.T, c, gvr.Rules, subresource, "", "ks", change)
	c.fresh()
}

func (c converting) written(more string) {
	c.Helper()
	c.change("", func(obj *unstructured.Unstructured) {
		obj.Object["spec"] = tree(c.T, rulesObject+specOf(`"Report"`, more)[1:])["spec"]
	})
}

func (c converting) fresh() {
	c.Helper()
	if err := c.Fresh(c.Context()); err != nil {
		c.Fatal(err)
	}
}

// converts compares what becomes of an object, or why nothing does.
func (c converting) converts(name, want string) {
	c.Helper()
	out, err := c.source.Converter(name).Convert(c.Context(), "example.com/v2",
		[][]byte{[]byte(`{"apiVersion":"example.com/v1","kind":"K","metadata":{"name":"k"},"a":"x","zone":"z"}`)})
	if got := fmt.Sprintf("%s %v", out, err); !strings.Contains(got, want) {
		c.Errorf("rules %q: it becomes %s, want %s", name, got, want)
	}
}

// Rules convert as they are at the time, and tell by their epoch when that is another way.
func TestTheSourceFollowsRules(t *testing.T) {
	var log bytes.Buffer
	c := serving(t, zerolog.New(&log))
	c.converts("ks", `"b":"x"`)
	c.converts("others", `there are no ConversionRules "others"`)
	if epoch := c.source.Converter("others").Epoch(); epoch != 0 {
		t.Errorf("the epoch of no rules is %d", epoch)
	}
	first := c.source.Converter("ks").Epoch()
	c.change("status", func(obj *unstructured.Unstructured) {
		obj.Object["status"] = map[string]any{"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Compiled", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}}}
	})
	if epoch := c.source.Converter("ks").Epoch(); first == 0 || epoch != first {
		t.Errorf("the epoch was %d, and is %d after a change of the status", first, epoch)
	}
	c.written(`,{"rename":{"field":"zone","to":"c"}}`)
	c.converts("ks", `"c":"z"`)
	if epoch := c.source.Converter("ks").Epoch(); epoch == first || epoch == 0 {
		t.Errorf("the epoch of other rules is %d, and was %d", epoch, first)
	}
	c.written(`,{"keep":{"field":"zone"},"remove":{"field":"zone"}}`)
	c.converts("ks", `ConversionRules "ks": `)
	c.converts("ks", "a rule does one thing")
	c.converts("ks", "a rule does one thing")
	if got := log.String(); strings.Count(got, `"name":"ks"`) != 1 || !strings.Contains(got, "a rule does one thing") || !strings.Contains(got, `"component":"conversion-rules"`) {
		t.Errorf("logged %s", got)
	}
	c.written("")
	c.converts("ks", `"b":"x"`)
	if err := c.Delete(t.Context(), gvr.Rules, "", "ks", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.fresh()
	c.converts("ks", `there are no ConversionRules "ks"`)
}

// Rules that were accepted before go on converting, and the log says what is wrong with them.
func TestStoredRulesThatShareAnAnnotationConvert(t *testing.T) {
	var log bytes.Buffer
	c := serving(t, zerolog.New(&log))
	c.written(shared)
	c.converts("ks", `"b":"x"`)
	c.converts("ks", `"b":"x"`)
	if got := log.String(); strings.Count(got, `"name":"ks"`) != 1 || !strings.Contains(got, `"level":"warn"`) || !strings.Contains(got, "spec.conversions[0].rules[2].keep.annotation") {
		t.Errorf("logged %s", got)
	}
}

// Rules that were deleted and are there again are others, though their generation is the same.
func TestRulesThatAreThereAgainAreOthers(t *testing.T) {
	c := serving(t, zerolog.Nop())
	first := c.source.Converter("ks").Epoch()
	if err := c.Delete(t.Context(), gvr.Rules, "", "ks", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	again := strings.Replace(specOf(`"Report"`, ""), `"to":"b"`, `"to":"d"`, 1)
	controllertest.MustCreate(t, c, gvr.Rules, tree(t, rulesObject+again[1:]))
	c.fresh()
	c.converts("ks", `"d":"x"`)
	if epoch := c.source.Converter("ks").Epoch(); epoch == first {
		t.Errorf("the epoch is still %d", epoch)
	}
}

// Nothing converts before the kind is served.
func TestNothingConvertsBeforeTheKindIsServed(t *testing.T) {
	early := New(zerolog.Nop()).Converter("ks")
	out, err := early.Convert(t.Context(), "example.com/v2", [][]byte{[]byte(`{"apiVersion":"example.com/v1","kind":"K","metadata":{"name":"k"}}`)})
	if err == nil || !strings.Contains(err.Error(), `there are no ConversionRules "ks"`) || out != nil {
		t.Errorf("it becomes %s, %v", out, err)
	}
	if epoch := early.Epoch(); epoch != 0 {
		t.Errorf("its epoch is %d", epoch)
	}
}
