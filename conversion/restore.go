package conversion

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// restore returns the converted object with the original's metadata, in which
// only labels and annotations are the converted ones.
func restore(original, converted *view) ([]byte, error) {
	if converted.metadata == nil {
		return nil, errors.New("missing metadata in converted object")
	}
	if converted.metadata[0] != '{' {
		return nil, fmt.Errorf("invalid metadata of type %s in converted object", goType(converted.metadata))
	}
	metadata := original.metadata
	if metadata == nil {
		metadata = []byte("{}")
	}
	if metadata[0] != '{' {
		return nil, fmt.Errorf("invalid metadata of type %s in input object", goType(metadata))
	}
	if err := checkStrings("labels", original.labels, converted.labels); err != nil {
		return nil, err
	}
	if err := checkStrings("annotations", original.annotations, converted.annotations); err != nil {
		return nil, err
	}
	end := converted.metadataAt + len(converted.metadata)
	size := len(converted.data) - len(converted.metadata) + len(metadata) +
		len(converted.labels) + len(converted.annotations) + 32
	out := make([]byte, 0, size)
	out = append(out, converted.data[:converted.metadataAt]...)
	out, err := appendMetadata(out, metadata, converted)
	if err != nil {
		return nil, err
	}
	return append(out, converted.data[end:]...), nil
}

// appendMetadata writes the members of metadata with labels and annotations
// replaced. Where these are new they go to their place in alphabetical order,
// which is the order of everything that is stored.
func appendMetadata(out, metadata []byte, from *view) ([]byte, error) {
	w, err := rawjson.Open(metadata, 0, true)
	if err != nil {
		return nil, err
	}
	pending := [2]struct {
		name  string
		value []byte
	}{{"annotations", from.annotations}, {"labels", from.labels}}
	next := 0
	// flush writes what belongs before a key, or all that is left.
	flush := func(key []byte, all bool) {
		for next < len(pending) && (all || pending[next].name < string(key)) {
			if v := pending[next].value; v != nil && !rawjson.IsNull(v) {
				out = appendMember(out, []byte(pending[next].name), v)
			}
			next++
		}
	}
	out = append(out, '{')
	for w.Next() {
		key, value := w.Key(), w.Value()
		if rawjson.Equal(key, "labels") || rawjson.Equal(key, "annotations") {
			continue
		}
		flush(key, false)
		out = appendMember(out, key, value)
	}
	flush(nil, true)
	return append(out, '}'), w.Err()
}

func appendMember(out, key, value []byte) []byte {
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	out = append(append(append(out, '"'), key...), `":`...)
	return append(out, value...)
}

// checkStrings checks labels or annotations of a converted object: strings
// only, and valid ones where anything changed.
func checkStrings(name string, original, converted []byte) error {
	if converted == nil || rawjson.IsNull(converted) || bytes.Equal(original, converted) && converted[0] == '{' {
		return nil
	}
	if converted[0] != '{' {
		return fmt.Errorf("invalid metadata.%s of type %s in converted object", name, goType(converted))
	}
	var had map[string]string
	if original != nil && !rawjson.IsNull(original) {
		if original[0] != '{' {
			return fmt.Errorf("invalid metadata.%s of type %s in original object", name, goType(original))
		}
		// What the original holds beside strings counts as changed.
		had, _ = stringMap(name, original)
	}
	have, err := stringMap(name, converted)
	if err != nil {
		return err
	}
	if maps.Equal(had, have) {
		return nil
	}
	if name == "labels" {
		return excerpt.Errors(metav1validation.ValidateLabels(have, field.NewPath("metadata", "labels")))
	}
	// The path is upstream's, singular.
	return excerpt.Errors(apivalidation.ValidateAnnotations(have, field.NewPath("metadata", "annotation")))
}

func stringMap(name string, raw []byte) (map[string]string, error) {
	w, err := rawjson.Open(raw, 0, true)
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	for w.Next() {
		key, value := rawjson.Unescape(w.Key()), w.Value()
		s, ok := rawjson.String(value)
		if !ok {
			return nil, fmt.Errorf("metadata.%s[%s] must be a string, but is %s in converted object", name, key, goType(value))
		}
		if _, twice := m[key]; twice {
			return nil, duplicate("metadata." + name + "." + key)
		}
		m[key] = s
	}
	return m, w.Err()
}

// goType is the type that a raw value has in an unstructured object, as error
// messages name it.
func goType(raw []byte) string {
	switch raw[0] {
	case '{':
		return "map[string]interface {}"
	case '[':
		return "[]interface {}"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	case 'n':
		return "<nil>"
	}
	if strings.ContainsAny(string(raw), ".eE") {
		return "float64"
	}
	return "int64"
}
