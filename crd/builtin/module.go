package builtin

import (
	_ "embed"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
)

//go:embed module.yaml
var moduleManifest []byte

// moduleDefinition is WasmModule. It is written as a CustomResourceDefinition,
// so that its schema, its rules and its columns are plain to read.
func moduleDefinition() (*crd.Definition, error) {
	var manifest apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(moduleManifest, &manifest); err != nil {
		return nil, err
	}
	d, err := custom.Compile(&manifest)
	if err != nil {
		return nil, err
	}
	d.KeyPrefix = "wasmgate.dev/wasmmodules"
	d.Conversion = nil
	return d, nil
}
