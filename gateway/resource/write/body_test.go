package write

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// The messages are kube-apiserver 1.36.3's for the same bodies; it names a Go
// source line after "registered for version", and another Go type for bodies
// that are no object.
func TestBodiesSayWhatTheyAre(t *testing.T) {
	w := newWorld(t)
	maps, tabs := w.builtin("configmaps", "default", ""), w.at(v1, "")
	const unrecognizedMap = "the object provided is unrecognized (must be of type ConfigMap): "
	const unrecognizedTab = "the object provided is unrecognized (must be of type CronTab): "
	for name, c := range map[string]struct {
		target resource.Target
		body   string
		want   string // of the error; empty: apiVersion and kind are the path's
	}{
		"built in, neither":        {maps, `{"metadata":{"name":"x"}}`, ""},
		"built in, null":           {maps, ` null`, ""},
		"built in, nulls":          {maps, `{"kind":null,"apiVersion":null}`, ""},
		"built in, empty":          {maps, `{"kind":"","apiVersion":""}`, ""},
		"built in, only kind":      {maps, `{"kind":"ConfigMap"}`, ""},
		"built in, only version":   {maps, `{"apiVersion":"v1"}`, ""},
		"built in, both":           {maps, `{"apiVersion":"v1","kind":"ConfigMap"}`, ""},
		"built in, another kind":   {maps, `{"kind":"Foo"}`, `Foo in version "v1" cannot be handled as a ConfigMap: no kind "Foo" is registered for version "v1"`},
		"built in, another group":  {maps, `{"apiVersion":"apps/v1"}`, `ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1"`},
		"built in, a number":       {maps, `{"kind":7}`, unrecognizedMap + `couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":7})`},
		"built in, a list":         {maps, `{"apiVersion":["v1"]}`, unrecognizedMap + `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go struct field .apiVersion of type string ({"apiVersion":["v1"]})`},
		"built in, a truth":        {maps, `{"kind":true}`, unrecognizedMap + `couldn't get version/kind; json parse error: json: cannot unmarshal bool into Go struct field .kind of type string ({"kind":true})`},
		"built in, an object":      {maps, `{"kind":{}}`, unrecognizedMap + `couldn't get version/kind; json parse error: json: cannot unmarshal object into Go struct field .kind of type string ({"kind":{}})`},
		"built in, two slashes":    {maps, `{"apiVersion":"a/b/c","kind":"ConfigMap"}`, unrecognizedMap + `unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)`},
		"nothing":                  {maps, ``, unrecognizedMap + `couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)`},
		"cut off after 30 bytes":   {maps, `{"aaaaaaaaaaaaaaaaaaaaaaaaaa":`, unrecognizedMap + `couldn't get version/kind; json parse error: unexpected end of JSON input ({"aaaaaaaaaaaaaaaaaaaaaaaaaa":)`},
		"cut off after 31 bytes":   {maps, `{"aaaaaaaaaaaaaaaaaaaaaaaaaaa":`, unrecognizedMap + `couldn't get version/kind; json parse error: unexpected end of JSON input ({"aaaaaaaaaaaaaaaaaaaaaaaaaaa" ...)`},
		"no object":                {maps, `"x"`, unrecognizedMap + `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (227822)`},
		"custom, neither":          {tabs, `{"metadata":{"name":"x"}}`, unrecognizedTab + `Object 'Kind' is missing in '{"metadata":{"name":"x"}}' ({"metadata":{"name":"x"}})`},
		"custom, null":             {tabs, `null`, unrecognizedTab + `Object 'Kind' is missing in 'null' (6e756c6c)`},
		"custom, no version":       {tabs, `{"kind":"CronTab"}`, `the API version in the data () does not match the expected API version (example.com/v1)`},
		"custom, another version":  {tabs, `{"apiVersion":"example.com/v1beta1","kind":"CronTab"}`, `the API version in the data (example.com/v1beta1) does not match the expected API version (example.com/v1)`},
		"custom, another group":    {tabs, `{"apiVersion":"other.com/v1","kind":"CronTab"}`, `the API version in the data (other.com/v1) does not match the expected API version (example.com/v1)`},
		"custom, another kind":     {tabs, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"x"}}`, `Foo.example.com "x" is invalid: kind: Invalid value: "Foo": must be CronTab`},
		"custom, what it has":      {tabs, `{"apiVersion":"example.com/v1","kind":"CronTab"}`, ""},
		"custom, a long body":      {tabs, `{"a":"` + strings.Repeat("x", 300) + `"}`, unrecognizedTab + `Object 'Kind' is missing in '{"a":"` + strings.Repeat("x", 250) + `...' ({"a":"` + strings.Repeat("x", 24) + ` ...)`},
		"custom, the path's slash": {tabs, `{"apiVersion":"a/b/c","kind":"CronTab"}`, unrecognizedTab + `unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)`},
	} {
		t.Run(name, func(t *testing.T) {
			tree, _, err := decodeBody(c.target, []byte(c.body), resource.WriteOptions{})
			if c.want != "" {
				if err == nil || err.Error() != c.want {
					t.Errorf("got  %v\nwant %s", err, c.want)
				}
				return
			}
			def := c.target.Resource.Def
			if err != nil || tree["kind"] != def.Kind || tree["apiVersion"] != def.APIVersion(c.target.Version.Name) {
				t.Errorf("got %v, %v", tree, err)
			}
		})
	}
}

// Kinds that have a Go type are read in one pass, custom resources in two.
func TestUnknownAndDuplicateFieldsComeAsTheyAreFound_FV01(t *testing.T) {
	w := newWorld(t)
	maps, tabs := w.builtin("configmaps", "default", ""), w.at(v1, "")
	for _, c := range []struct {
		target resource.Target
		body   string
		yaml   []string
		want   string
	}{
		{maps, `{"z":1,"metadata":{"bad":1,"name":"x","name":"x"},"data":{"a":"1","a":"2"},"b":1}`, nil,
			`unknown field "z", unknown field "metadata.bad", duplicate field "metadata.name", duplicate field "data.a", unknown field "b"`},
		{maps, `{"b":1,"metadata":{"name":"x"},"z":1}`, []string{"from YAML"}, `from YAML, unknown field "b", unknown field "z"`},
		{tabs, `{"z":1,"apiVersion":"example.com/v1","kind":"CronTab","spec":{"y":1,"replicas":1,"replicas":1}}`, nil,
			`duplicate field "spec.replicas", unknown field "spec.y", unknown field "z"`},
	} {
		_, _, err := decodeBody(c.target, []byte(c.body), resource.WriteOptions{FieldValidation: "Strict", Problems: c.yaml})
		refused(t, err, 400, "BadRequest", `: strict decoding error: `+c.want)
	}
}

// A body of another version is read by that version before it is refused.
func TestUnknownFieldsOfAnotherVersion_FV01_FV02(t *testing.T) {
	w := newWorld(t)
	const body = `{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"x","odd":1},"hostPort":"h:1","host":"h","z":1}`
	var warned []string
	_, _, err := decodeBody(w.at(v1, ""), []byte(body), resource.WriteOptions{Warn: func(text string) { warned = append(warned, text) }})
	refused(t, err, 400, "BadRequest", "the API version in the data (example.com/v1beta1) does not match the expected API version (example.com/v1)")
	if got := strings.Join(warned, ", "); got != `unknown field "metadata.odd", unknown field "host", unknown field "z"` {
		t.Errorf("warnings %s", got)
	}
	_, _, err = decodeBody(w.at(v1, ""), []byte(body), resource.WriteOptions{FieldValidation: "Strict"})
	refused(t, err, 400, "BadRequest", `CronTab in version "v1beta1" cannot be handled as a CronTab: strict decoding error: unknown field "metadata.odd", unknown field "host", unknown field "z"`)
	_, _, err = decodeBody(w.at(v1, ""), []byte(body), resource.WriteOptions{FieldValidation: "Ignore", Warn: func(text string) { t.Error(text) }})
	refused(t, err, 400, "BadRequest", "the API version in the data")
}

// What says to be of a version that nobody knows, or of another kind, is read too, by
// what is known of it: metadata, and of the kind's own versions that they have no fields.
func TestUnknownFieldsOfUnknownVersionsAndKinds_FV01_FV02(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	const version, kind = "the API version in the data", "must be CronTab"
	for _, c := range []struct{ says, problems, refused, patched string }{
		{`"apiVersion":"example.com/v9","kind":"CronTab"`, `unknown field "metadata.odd", unknown field "host", unknown field "port", unknown field "z"`, version, "must be example.com/v1"},
		{`"apiVersion":"other.com/v1","kind":"CronTab"`, `unknown field "metadata.odd"`, version, "must be example.com/v1"},
		{`"apiVersion":"example.com/v1","kind":"Foo"`, `unknown field "metadata.odd"`, kind, kind},
		{`"apiVersion":"other.com/v1","kind":"Foo"`, `unknown field "metadata.odd"`, version, kind + ", apiVersion: Invalid value: \"other.com/v1\": must be example.com/v1]"},
		{`"apiVersion":"example.com/v1beta1","kind":"CronTab"`, `unknown field "metadata.odd", unknown field "host", unknown field "port", unknown field "z"`, version, "must be example.com/v1"},
	} {
		body := []byte(`{` + c.says + `,"metadata":{"name":"one","odd":1},"port":"1","host":"h","z":1}`)
		create := func(o resource.WriteOptions) error { _, _, err := decodeBody(w.at(v1, ""), body, o); return err }
		patch := func(o resource.WriteOptions) error {
			_, err := w.Patch(w.ctx(), w.at(v1, "one"), types.MergePatchType, body, o)
			return err
		}
		for what, do := range map[string]func(resource.WriteOptions) error{c.refused: create, c.patched: patch} {
			var warned []string
			err := do(resource.WriteOptions{Warn: func(text string) { warned = append(warned, text) }})
			if err == nil || !strings.Contains(err.Error(), what) || strings.Join(warned, ", ") != c.problems {
				t.Errorf("%s: %v, warned of %s", c.says, err, warned)
			}
			if err := do(resource.WriteOptions{FieldValidation: "Strict"}); err == nil || !strings.HasSuffix(err.Error(), "strict decoding error: "+c.problems) {
				t.Errorf("%s, strictly: %v", c.says, err)
			}
			if err := do(resource.WriteOptions{FieldValidation: "Ignore", Warn: func(text string) { t.Error(text) }}); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%s, ignoring: %v", c.says, err)
			}
		}
	}
	_, _, err := decodeBody(w.at(v1, ""), []byte(`{"apiVersion":"other.com/v2","kind":"Foo","metadata":{"labels":{"a":1}}}`), resource.WriteOptions{})
	refused(t, err, 400, "BadRequest", `Foo in version "v2" cannot be handled as a CronTab: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string`)
}
