package builtin

import (
	_ "embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
)

//go:embed module.yaml
var moduleManifest []byte

//go:embed versionpriority.yaml
var versionPriorityManifest []byte

// fromManifest is a kind of this server's own. It is written as a
// CustomResourceDefinition, so that its schema, its rules and its columns are
// plain to read.
func fromManifest(text []byte) (*crd.Definition, error) {
	var manifest apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &manifest); err != nil {
		return nil, err
	}
	d, err := custom.Compile(&manifest)
	if err != nil {
		return nil, fmt.Errorf("built-in %s: %w", manifest.Name, err)
	}
	d.KeyPrefix = manifest.Spec.Group + "/" + manifest.Spec.Names.Plural
	d.Conversion = nil
	return d, nil
}
