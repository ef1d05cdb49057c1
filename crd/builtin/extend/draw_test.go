package extend_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

const notIdentifier = `a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')`

// asked is what kube-apiserver 1.36.3 answered to a new object; "" for 201.
type asked struct{ kind, body, want string }

// ask compares with it, but for the order of causes.
func (c asked) ask(t *testing.T, defs map[string]*crd.Definition) {
	t.Helper()
	err := crdtest.Creation(t, defs[c.kind], c.body)
	if got := crdtest.Message(err); !slices.Equal(said(got), said(c.want)) || (err == nil) != (c.want == "") {
		t.Errorf("%.300s:\ngot  %.900s %.900v\nwant %s", c.body, got, err, c.want)
	}
}

// Devices of a claim may have to be alike in an attribute, or all unlike.
func TestConstraintsOfClaims(t *testing.T) {
	const at = `spec.devices.constraints[0]`
	defs := builtintest.Definitions(t)
	for constraint, want := range map[string]string{
		`"distinctAttribute":"d.example.com/numa"`: ``,
		`"distinctAttribute":"Odd one!"`: `[` + at + `.distinctAttribute: Invalid value: "Odd one!": ` + notIdentifier + `, ` +
			at + `.distinctAttribute: Invalid value: "Odd one!": a fully qualified name must be a domain and a name separated by a slash]`,
		`"matchAttribute":"a.b/c","distinctAttribute":"Odd one!"`: ``,
		``: at + `: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`,
	} {
		asked{"resourceclaim", `{"metadata":{"name":"x"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}],"constraints":[{` + constraint + `}]}}}`, want}.ask(t, defs)
	}
	shaped := crdtest.Shaped(t, defs["resourceclaim"], `{"metadata":{"name":"x"},"spec":{"devices":{"constraints":[{"matchAttribute":"a.b/c","distinctAttribute":"a.b/d"}]}}}`)
	defs["resourceclaim"].Versions[0].Strategy.Prepare(t.Context(), shaped, nil)
	if text, err := shaped.MarshalJSON(); err != nil || !strings.Contains(string(text), "distinctAttribute") {
		t.Errorf("%s, %v", text, err)
	}
}
