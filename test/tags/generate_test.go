package tags

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/generating"
)

// The rules that are checked in are what the generator makes of the tags, and so
// Go that is compiled: nothing reads tags while the gateway runs.
func TestRulesAreGenerated_DV04(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"doc.go", "types.go", "subresources.go", "ip.go"} {
		files["test/tags/"+name] = generating.Read(t, name)
	}
	dir := generating.Module(t, "../..", files)
	if out, err := generating.Run(t, generating.Build(t), dir, "./test/tags"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if generating.Read(t, filepath.Join(dir, "test/tags", generating.File)) != generating.Read(t, generating.File) {
		t.Errorf("%s is not what the types say: go generate ./test/tags", generating.File)
	}
}

// What cannot be made into a rule ends the generator, so nothing is left out in
// silence.
func TestGeneratorRefuses(t *testing.T) {
	const doc = "// +k8s:validation-gen=*\n// +k8s:validation-gen-scheme-registry=nil\n// +k8s:validation-gen-nolint\npackage kinds\n"
	const inner = "package inner\n\ntype Inner struct {\n\t// +k8s:minimum=1\n\tN int `json:\"n\"`\n}\n"
	const field = "package kinds\n\nimport \"github.com/wasmgate/wasmgate/inner\"\n\ntype Kind struct {\n%\tInner inner.Inner `json:\"inner\"`\n}\n"
	program := generating.Build(t)
	for name, test := range map[string]struct {
		types, want string
		args        []string
		calls       bool // the rules of the other package
	}{
		"DV-16 a type of a package that is not listed":    {types: strings.Replace(field, "%", "", 1), want: "inner.Inner"},
		"DV-16 which is listed":                           {types: strings.Replace(field, "%", "", 1), args: []string{"--readonly-pkg=github.com/wasmgate/wasmgate/inner"}, calls: true},
		"DV-16 or opaque":                                 {types: strings.Replace(field, "%", "\t// +k8s:opaqueType\n", 1)},
		"DV-13 an item that is named by some of its keys": {types: "package kinds\n\ntype Kind struct {\n\t// +k8s:listType=map\n\t// +k8s:listMapKey=a\n\t// +k8s:listMapKey=b\n\t// +k8s:item(a: \"x\")=+k8s:zeroOrOneOfMember\n\tL []Item `json:\"l\"`\n}\n\ntype Item struct {\n\tA string `json:\"a\"`\n\tB string `json:\"b\"`\n}\n", want: "does not match number of listMapKey fields"},
		"DV-12 a list that is a map without keys":         {types: "package kinds\n\ntype Kind struct {\n\t// +k8s:listType=map\n\tL []Item `json:\"l\"`\n}\n\ntype Item struct {\n\tA string `json:\"a\"`\n}\n", want: "listMapKey"},
		"DV-05 a map whose keys are numbers":              {types: "package kinds\n\ntype Kind struct {\n\t// +k8s:eachKey=+k8s:minimum=1\n\tM map[int]string `json:\"m\"`\n}\n", want: "maps with non-string keys are not supported"},
		"DV-08 an address, which its documentation knows": {types: "package kinds\n\ntype Kind struct {\n\t// +k8s:format=k8s-ip\n\tIP string `json:\"ip\"`\n}\n", want: `unsupported validation format "k8s-ip"`},
		"DV-14 the most characters of what are none":      {types: "package kinds\n\ntype Kind struct {\n\t// +k8s:maxLength=1\n\tN int `json:\"n\"`\n}\n", want: "maxLength"},
		"DV-06 an enumeration of what are no strings":     {types: "package kinds\n\n// +k8s:enum\ntype E int\n\ntype Kind struct {\n\tE E `json:\"e\"`\n}\n", want: "enum"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := generating.Module(t, "../..", map[string]string{"kinds/doc.go": doc, "kinds/types.go": test.types, "inner/inner.go": inner})
			out, err := generating.Run(t, program, dir, append(test.args, "./kinds")...)
			if (err != nil) != (test.want != "") || !strings.Contains(out, test.want) {
				t.Errorf("%v: %s", err, out)
			}
			if test.want == "" && strings.Contains(generating.Read(t, filepath.Join(dir, "kinds", generating.File)), "inner.Validate_") != test.calls {
				t.Error("rules of the other type are called, or are not")
			}
		})
	}
}
