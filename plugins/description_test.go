package plugins

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestHooksAreThoseThatAreExportedAndDescribed(t *testing.T) {
	all := Hooks()
	for text, want := range map[string][]Hook{
		"": all, "{}": all, `{"hooks":null}`: all, `{"other":1}`: all,
		`{"hooks":["wasmgate_admit"]}`:                                          {Admit},
		`{"hooks":["wasmgate_prioritize","wasmgate_later","wasmgate_convert"]}`: {Convert, Prioritize},
	} {
		d, err := ParseDescription([]byte(text))
		if err != nil {
			t.Fatal(text, err)
		}
		if got, err := d.HooksOf(all); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestASchemaIsOptional(t *testing.T) {
	for text, want := range map[string]string{"{}": "", `{"configSchema":null}`: "", `{"configSchema":{"type":"object"}}`: `{"type":"object"}`} {
		if d, err := ParseDescription([]byte(text)); err != nil || string(d.ConfigSchema) != want || (d.ConfigSchema == nil) != (want == "") {
			t.Errorf("%s: %s, %v", text, d.ConfigSchema, err)
		}
	}
}

func TestADescriptionThatCannotBeIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"hooks":1}`:                  "its description cannot be read: ",
		`{"hooks":[]}`:                 "it has no hook: it exports wasmgate_convert, but its description names none of them",
		`{"hooks":["wasmgate_later"]}`: "it has no hook: ",
		`{"hooks":["wasmgate_admit"]}`: `its description names the hook "wasmgate_admit", which it does not export`,
	} {
		d, err := ParseDescription([]byte(text))
		if err == nil {
			_, err = d.HooksOf([]Hook{Convert})
		}
		var refused *LoadError
		if !errors.As(err, &refused) || refused.Reason != BadDescription || !strings.HasPrefix(refused.Detail, want) || !refused.Reason.Final() {
			t.Errorf("%s: %v", text, err)
		}
	}
}
