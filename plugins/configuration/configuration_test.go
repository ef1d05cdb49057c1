package configuration

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const region = `{"type":"object","required":["region"],"additionalProperties":false,"properties":{
	"region":{"type":"string","pattern":"^[a-z]+$"},"size":{"type":"integer","minimum":1},"tags":{"type":"array","items":{"type":"string"}}}}`

func TestConfigurationsAreCheckedBySchema(t *testing.T) {
	for config, want := range map[string]string{
		`{"region":"north","size":1,"tags":["a"]}`: "",
		`{"region":"north"}`:                       "",
		`{}`:                                       "config.region in body is required",
		`{"region":"N","size":0}`:                  "config.size in body should be greater than or equal to 1",
		`{"region":7}`:                             "config.region in body must be of type string",
		`{"region":"a","tags":[1]}`:                "config.tags[0] in body must be of type string",
		`{"region":"a","other":1}`:                 "config.other in body is a forbidden property",
		`null`:                                     "config in body must be of type object",
		`[]`:                                       "config in body must be of type object",
		`{`:                                        "unexpected end of JSON input",
	} {
		err := Check([]byte(region), []byte(config))
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || errors.Is(err, ErrSchema)) {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
	if err := Check([]byte(region), []byte(`{"region":"N","size":0}`)); !strings.Contains(fmt.Sprint(err), "; ") {
		t.Errorf("two mistakes: %v", err)
	}
}

func TestASchemaThatCannotBeUsedIsToBlame(t *testing.T) {
	for schema, want := range map[string]string{
		`{"$ref":"#/definitions/a"}`: "references not supported",
		`{"type":7}`:                 "",
		`{"properties":[]}`:          "",
		`x`:                          "invalid character",
		``:                           "unexpected end of JSON input",
	} {
		if err := Check([]byte(schema), []byte(`{}`)); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

// Wherever a schema asks for it: every item would be compared with every other,
// once for each place that asks.
func TestListsAreNotComparedItemByItem(t *testing.T) {
	const unique = `{"uniqueItems":true}`
	for schema, refused := range map[string]bool{
		unique: true, `{"not":` + unique + `}`: true, `{"items":` + unique + `}`: true, `{"items":[{},` + unique + `]}`: true,
		`{"allOf":[{},` + unique + `]}`: true, `{"anyOf":[` + unique + `]}`: true, `{"oneOf":[` + unique + `]}`: true,
		`{"properties":{"a":{"properties":{"b":` + unique + `}}}}`: true, `{"additionalProperties":` + unique + `}`: true, `{"patternProperties":{"a":` + unique + `}}`: true,
		`{"additionalItems":` + unique + `}`: true, `{"dependencies":{"a":` + unique + `}}`: true,
		`{"properties":{"uniqueItems":{"type":"boolean"}},"additionalProperties":false,"uniqueItems":false}`: false,
	} {
		err := Check([]byte(schema), []byte(`{}`))
		if refused != errors.Is(err, ErrSchema) || refused && !strings.Contains(err.Error(), "uniqueItems cannot be true") || !refused && err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestWhatIsLookedAtIsBounded(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for name, c := range map[string]struct{ schema, config, want string }{
		"a config that fits":    {`{}`, `"` + strings.Repeat("x", MaxConfigBytes-2) + `"`, ""},
		"a config that is long": {`{}`, `"` + strings.Repeat("x", MaxConfigBytes-1) + `"`, "it has 65537 bytes, more than 65536"},
		"a schema that fits":    {`{"title":"` + strings.Repeat("x", MaxSchemaBytes-12) + `"}`, `1`, ""},
		"a schema that is long": {`{"title":"` + strings.Repeat("x", MaxSchemaBytes-11) + `"}`, `1`, "it has 32769 bytes, more than 32768"},
		"as deep as may be":     {`{}`, nested(MaxDepth), ""},
		"too deep":              {`{}`, nested(MaxDepth + 1), "it is deeper than 64"},
		"not deep but many":     {`{}`, "[" + strings.Repeat("[],", 100) + "{}]", ""},
		"a deep schema":         {strings.Repeat(`{"not":`, MaxDepth+1) + "{}" + strings.Repeat("}", MaxDepth+1), `1`, "it is deeper than 64"},
	} {
		err := Check([]byte(c.schema), []byte(c.config))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := strings.TrimSuffix(strings.Repeat("1,", 30), ",")
	err := Check([]byte(`{"items":{"type":"string"}}`), []byte("["+many+"]"))
	if err == nil || strings.Count(err.Error(), "must be of type string") != maxProblems || !strings.HasSuffix(err.Error(), "; and 20 more") {
		t.Errorf("many mistakes: %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(region), []byte(`{"region":"x"}`))
	f.Add([]byte(`{"anyOf":[{"type":"null"},{"not":{}}],"uniqueItems":true}`), []byte(`[1,1]`))
	f.Fuzz(func(t *testing.T, schema, config []byte) {
		_ = Check(schema, config) // ends, and does not panic
	})
}
