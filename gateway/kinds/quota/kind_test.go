package quota_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/quota"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// What bounds a namespace follows from which kinds are served.
func TestWhatBoundsNamespaces(t *testing.T) {
	e := realengine.Start(t)
	for _, c := range []struct {
		served, plugins, controllers string
	}{
		{"", "ResourceQuota", ""}, {"resourcequotas", "ResourceQuota", options.ResourceQuotas}, {"limitranges", "ResourceQuota LimitRanger", ""},
		{"resourcequotas limitranges", "ResourceQuota LimitRanger", options.ResourceQuotas},
	} {
		var config kinds.Config
		for _, plural := range strings.Fields(c.served) {
			config.Definitions = append(config.Definitions, &crd.Definition{Plural: plural})
		}
		k := quota.Kind(config)
		plugins, err := k.Admission(e.Verbs, nil)
		if err != nil {
			t.Fatal(err)
		}
		var names, controllers []string
		for _, p := range plugins {
			names = append(names, p.Name())
		}
		if k.Serve != nil {
			served, err := k.Serve(e.Verbs)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range served.Controllers() {
				controllers = append(controllers, one.Switch)
			}
		}
		if got := strings.Join(names, " "); got != c.plugins || strings.Join(controllers, " ") != c.controllers {
			t.Errorf("%q: %s; %q", c.served, got, controllers)
		}
	}
}
