package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/draft"
	"github.com/wasmgate/wasmgate/conversion/rules"
)

// rules writes a ConversionRules manifest.
func (p Project) rules() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The conversion of %s. What is marked with CHECK was guessed.\n", p.Definition)
	fmt.Fprintf(&b, "apiVersion: wasmgate.dev/v1\nkind: ConversionRules\nmetadata:\n  name: %s\nspec:\n  conversions:\n", p.Name)
	for _, d := range p.Drafts {
		fmt.Fprintf(&b, "  - from: %s\n    to: %s\n    rules:", d.From, d.To)
		if len(d.Rules().Rules) == 0 {
			b.WriteString(" [] # nothing has to change")
		}
		b.WriteByte('\n')
		for _, op := range d.Ops {
			comment(&b, "    # ", op)
			if op.Rule == (rules.Rule{}) {
				continue
			}
			text, err := json.Marshal(op.Rule)
			if err != nil {
				return nil, err
			}
			flowing, err := flow(text)
			if err != nil {
				return nil, err
			}
			// The one field of the rule goes without braces.
			fmt.Fprintf(&b, "    - %s\n", strings.TrimSuffix(strings.TrimPrefix(flowing, "{"), "}"))
		}
	}
	return b.Bytes(), nil
}

// comment writes what is to be said of an operation, if anything is.
func comment(b *bytes.Buffer, begin string, op draft.Op) {
	if op.Certain {
		fmt.Fprintf(b, "%s%s\n", begin, line(op.Why))
		return
	}
	at := ""
	if op.At != "" { // of a whole object there is no field to name
		at = line(op.At) + ": "
	}
	fmt.Fprintf(b, "%sCHECK: %s%s\n", begin, at, line(op.Why))
	if len(op.Alternatives) > 0 {
		fmt.Fprintf(b, "%s  or: %s\n", begin, line(strings.Join(op.Alternatives, "; ")))
	}
}

// line is a text as one line of a comment.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff {
			return ' '
		}
		return r
	}, text)
}

// simple are texts that YAML reads as texts without quotes.
var simple = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./]*$`)

var noTexts = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// flow writes JSON as a line of YAML, without the quotes that it can do without.
func flow(text []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value(d)
}

func value(d *json.Decoder) (string, error) {
	t, err := d.Token()
	if err != nil {
		return "", err
	}
	end, isOpen := t.(json.Delim)
	if !isOpen {
		return scalar(t)
	}
	var parts []string
	for d.More() {
		key := ""
		if end == '{' {
			name, err := value(d)
			if err != nil {
				return "", err
			}
			key = name + ": "
		}
		v, err := value(d)
		if err != nil {
			return "", err
		}
		parts = append(parts, key+v)
	}
	if _, err := d.Token(); err != nil {
		return "", err
	}
	if end == '{' {
		return "{" + strings.Join(parts, ", ") + "}", nil
	}
	return "[" + strings.Join(parts, ", ") + "]", nil
}

func scalar(t json.Token) (string, error) {
	if text, ok := t.(string); ok && simple.MatchString(text) && !slices.Contains(noTexts, strings.ToLower(text)) {
		return text, nil
	}
	quoted, err := json.Marshal(t)
	return string(quoted), err
}
