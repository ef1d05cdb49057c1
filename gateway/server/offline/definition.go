package offline

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/crd/object"
)

// maxDefinitions is the size of the largest file with definitions that is read.
const maxDefinitions = 16 << 20

// readDefinition compiles the one CustomResourceDefinition of a file, which may have
// other objects beside it.
func readDefinition(text []byte) (*crd.Definition, error) {
	if len(text) > maxDefinitions {
		return nil, fmt.Errorf("the file with the CustomResourceDefinition has %d bytes, more than %d", len(text), maxDefinitions)
	}
	var found *crd.Definition
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
		c, err := definition.FromTree(tree)
		if err != nil {
			return nil, err
		}
		if found != nil {
			return nil, fmt.Errorf("the file has several CustomResourceDefinitions; %s.%s is the first", found.Plural, found.Group)
		}
		if found, err = custom.Compile(c); err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, errors.New("the file has no CustomResourceDefinition of apiextensions.k8s.io/v1")
	}
	return found, nil
}
