package sdk

import (
	"errors"
	"testing"
)

func TestAConfigurationIsTakenOrRefused(t *testing.T) {
	was, wasSchema := configures, configSchema
	t.Cleanup(func() { configures, configSchema = was, wasSchema })
	configures = nil
	if got := string(appendConfigured(nil, []byte("{}"))); got != `{"error":"this module takes no configuration: it was built without sdk.Configure"}` {
		t.Errorf("without a function: %s", got)
	}
	var got []byte
	Configure(`{"type":"object"}`, func(config []byte) error {
		if got = config; string(config) == "{}" {
			return errors.New(`no "region"`)
		}
		return nil
	})
	in := []byte(`{"region":"a"}`)
	if out := appendConfigured(nil, in); len(out) != 0 || string(got) != `{"region":"a"}` {
		t.Errorf("%s of %s", out, got)
	}
	if in[2] = 'X'; string(got) != `{"region":"a"}` {
		t.Error("the configuration is the gateway's memory")
	}
	if out := string(appendConfigured(nil, []byte("{}"))); out != `{"error":"no \"region\""}` {
		t.Errorf("refused with %s", out)
	}
	wasKinds, wasAdmits, wasPriority := kinds, admits, prioritizes
	t.Cleanup(func() { kinds, admits, prioritizes = wasKinds, wasAdmits, wasPriority })
	kinds, admits, prioritizes = nil, nil, func(_ string, v []string) []string { return v }
	if out := string(appendDescription(nil)); out != `{"hooks":["wasmgate_prioritize"],"configSchema":{"type":"object"}}` {
		t.Errorf("described by %s", out)
	}
}
