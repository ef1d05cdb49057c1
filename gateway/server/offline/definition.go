package offline

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// maxDefinitions is the size of the largest file with definitions that is read.
const maxDefinitions = 16 << 20

// readDefinition compiles the one CustomResourceDefinition of a file, which may have
// other objects beside it.
func readDefinition(text []byte) (*crd.Definition, error) {
	c, err := findDefinition(text)
	if err != nil {
		return nil, workbench.DefinitionError{Err: err}
	}
	d, err := custom.Compile(c)
	if err != nil {
		return nil, workbench.DefinitionError{Err: err}
	}
	return d, nil
}

// findDefinition finds the one CustomResourceDefinition of a file.
func findDefinition(text []byte) (found *apiextensionsv1.CustomResourceDefinition, err error) {
	if len(text) > maxDefinitions {
		return nil, fmt.Errorf("the file with the CustomResourceDefinition has %d bytes, more than %d", len(text), maxDefinitions)
	}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		data, err := sigsyaml.YAMLToJSON(document)
		if err != nil {
			return nil, err
		}
		if kind, _ := object.String(object.Field(data, "kind")); kind != definition.Kind {
			continue
		}
		tree, _, err := object.Parse(data)
		if err != nil {
			return nil, err
		}
		if is, want := object.TextAt(tree, "apiVersion"), apiextensionsv1.SchemeGroupVersion.String(); is != want {
			return nil, fmt.Errorf("%s is a CustomResourceDefinition of %s, and %s is read here: a server that has it gives it as that", object.TextAt(tree, "metadata", "name"), is, want)
		}
		if found != nil {
			return nil, fmt.Errorf("the file has several CustomResourceDefinitions; %s is the first", found.Name)
		}
		if found, err = definition.FromTree(tree); err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, errors.New("the file has no CustomResourceDefinition of apiextensions.k8s.io/v1")
	}
	return found, nil
}
