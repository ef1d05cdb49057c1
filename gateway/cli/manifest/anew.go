package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"
)

// anew is a value as a document of its own.
func anew(value any) ([]byte, error) {
	data, err := encode(value)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(data)
}

// encode writes a value as JSON that is read as the same value by a parser of YAML: such
// a one takes some characters for the end of a line, and others not at all.
func encode(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, c := range string(data) {
		if c <= 0xffff && !unicode.IsPrint(c) {
			fmt.Fprintf(&out, `\u%04x`, c)
			continue
		}
		out.WriteRune(c)
	}
	return out.Bytes(), nil
}

// rendered is a value as text, of which each line but the first begins at a column.
func rendered(value any, column int) (string, error) {
	text, err := anew(value)
	if err != nil {
		return "", fmt.Errorf("write: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range lines {
		if i > 0 && lines[i] != "" {
			lines[i] = strings.Repeat(" ", column) + lines[i]
		}
	}
	return strings.Join(lines, "\n"), nil
}
