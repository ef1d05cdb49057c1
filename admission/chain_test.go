package admission_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/order"
)

// named is a plugin that does nothing but note that it was asked.
type named struct {
	name  string
	asked *[]string
}

func (n named) Name() string { return n.name }

type mutator struct{ named }

func (m mutator) Mutate(context.Context, admission.Attributes) error {
	*m.asked = append(*m.asked, m.name)
	return nil
}

type both struct{ mutator }

func (b both) Validate(context.Context, admission.Attributes) error {
	*b.asked = append(*b.asked, b.name)
	return nil
}

// webhooks are asked in a stage of their own.
type webhooks struct{ named }

func (w webhooks) Begin(context.Context, admission.Attributes) func(*admission.Reinvocation) admission.Stage {
	return func(*admission.Reinvocation) admission.Stage { return w }
}

func (w webhooks) Admit(_ context.Context, again bool) error {
	*w.asked = append(*w.asked, w.name)
	return nil
}

func always(string) bool { return true }

func TestPluginsAreAskedInTheOrderOfTheTable(t *testing.T) {
	var asked []string
	of := func(name string) named { return named{name, &asked} }
	c, err := admission.NewChain(always,
		of(order.ResourceQuota), both{mutator{of(order.Priority)}}, webhooks{of(order.MutatingAdmissionWebhook)}, both{mutator{of(order.LimitRanger)}},
		webhooks{of(order.MutatingAdmissionPolicy)}, mutator{of(order.NamespaceLifecycle)})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Mutators {
		if err := m.Mutate(t.Context(), &admissiontest.Attributes{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range c.Validators {
		if err := v.Validate(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range c.Charging {
		asked = append(asked, p.Name())
	}
	want := "NamespaceLifecycle LimitRanger MutatingAdmissionPolicy MutatingAdmissionWebhook LimitRanger Priority LimitRanger Priority ResourceQuota"
	if got := strings.Join(asked, " "); got != want {
		t.Errorf("asked\n%s\nwant\n%s", got, want)
	}
}

func TestOnlyWhatFitsTheOrderIsInAChain(t *testing.T) {
	of := func(name string) named { return named{name, nil} }
	for want, p := range map[string]admission.Plugin{
		"the admission plugin NodeRestriction has no place in the order":    of("NodeRestriction"),
		"the admission plugin Mine has no place in the order":               of("Mine"),
		"the admission plugin Priority does not mutate":                     of(order.Priority),
		"the admission plugin LimitRanger does not validate":                mutator{of(order.LimitRanger)},
		"the admission plugin ValidatingAdmissionWebhook does not validate": mutator{of(order.ValidatingAdmissionWebhook)},
		"the admission plugin MutatingAdmissionWebhook does not mutate":     of(order.MutatingAdmissionWebhook),
	} {
		if _, err := admission.NewChain(always, p); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c, err := admission.NewChain(func(string) bool { return false }, of(order.Priority), of(order.ResourceQuota))
	if err != nil || len(c.Mutators)+len(c.Charging) != 0 {
		t.Errorf("%v of those that are off, %v", c, err)
	}
}

// docs/admission.md has the table of plugins, in order.
func TestThePluginsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/admission.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) == 5 && strings.HasPrefix(cells[1], " `") && !slices.Contains(got, line) {
			got = append(got, strings.Trim(cells[1], " `")+" "+strings.TrimSpace(cells[2]))
		}
	}
	var want []string
	is := map[order.Default]string{order.On: "on", order.Off: "off", order.Always: "always"}
	for _, p := range order.Plugins {
		want = append(want, fmt.Sprint(p.Name, " ", is[p.Is]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("docs/admission.md has\n%s\nthe order is\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
