package encoding

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
)

// yamlText is YAML.
type yamlText struct{}

// Document implements [Codec]. JSON is YAML, too.
func (yamlText) Document(text []byte, _ *crd.Version) ([]byte, error) {
	if sprawls(text) {
		return slices.Concat(text, []byte("\n")), nil
	}
	return yaml.JSONToYAML(text)
}

// Single implements [Codec].
func (y yamlText) Single(o Object, _ schema.GroupVersionKind) ([]byte, error) {
	return y.Document(o.Bytes(), nil)
}

// Around implements [Codec].
func (y yamlText) Around(l *List, count, _ int) (head, tail []byte, err error) {
	return between(y, l, count, func(key string) place {
		key = "\n" + key + ":"
		return place{key + " []\n", key + "\n", ""}
	})
}

// AppendItem implements [Codec].
func (yamlText) AppendItem(dst []byte, o Object) ([]byte, error) {
	if text := trimmed(o); sprawls(text) {
		return append(append(append(dst, "- "...), text...), '\n'), nil
	}
	out, err := yaml.JSONToYAML(slices.Concat([]byte("["), o.Bytes(), []byte("]")))
	return append(dst, out...), err
}

// Event implements [Codec]. Nobody is offered such a watch.
func (y yamlText) Event(_ *[]byte, _ string, o Object, _ schema.GroupVersionKind) (Frame, error) {
	document, err := encoded(y, o)
	return Frame{Body: document}, err
}
