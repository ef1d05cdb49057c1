package opa

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/excerpt"
)

// Host is what functions need of the world.
type Host interface {
	// Log logs a line.
	Log(line []byte)
	// Now is the time, in nanoseconds.
	Now() int64
}

// builtin is a function that a policy leaves to its host: what it gives for operands,
// which are JSON; nil is undefined, and an error ends the policy, which must not go on as
// if there was nothing to say.
type builtin func(h Host, operands []json.RawMessage) (any, error)

var builtins = map[string]builtin{
	"sprintf": func(_ Host, operands []json.RawMessage) (any, error) {
		text, err := sprintf(operands)
		switch {
		case errors.Is(err, errFormat):
			return nil, err
		case err != nil:
			return nil, nil
		}
		return text, nil
	},
	"trace": func(h Host, operands []json.RawMessage) (any, error) {
		var note string
		if len(operands) != 1 || json.Unmarshal(operands[0], &note) != nil {
			return nil, nil
		}
		h.Log([]byte(note + "\n"))
		return true, nil
	},
	"time.now_ns": func(h Host, _ []json.RawMessage) (any, error) { return h.Now(), nil },
}

// Builtins are the functions that a policy calls, by number; the text is what the
// policy says of them. One that is not there is an error.
func Builtins(text []byte) (map[int32]string, error) {
	var said map[string]int32
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, fmt.Errorf("what it says of the functions that it calls cannot be read: %w", err)
	}
	all, lacking := map[int32]string{}, []string(nil)
	for name, id := range said {
		if all[id] = name; builtins[name] == nil {
			lacking = append(lacking, name)
		}
	}
	if len(lacking) > 0 {
		slices.Sort(lacking)
		return nil, fmt.Errorf("it calls %s, which the gateway does not offer; of the functions that OPA leaves to hosts, %s are there",
			excerpt.Of(strings.Join(lacking, ", "), 300), strings.Join(slices.Sorted(maps.Keys(builtins)), ", "))
	}
	return all, nil
}

// Call is what a function gives, as JSON; nil is undefined.
func Call(h Host, name string, operands []json.RawMessage) ([]byte, error) {
	f := builtins[name]
	if f == nil {
		return nil, fmt.Errorf("there is no function %s", excerpt.Of(name, 100))
	}
	value, err := f(h, operands)
	if value == nil || err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// MaxOperands is the most that the operands of a call may be in bytes, all together.
const MaxOperands = 256 << 10

// The bounds of formats: widths and precisions of three digits at most, none from
// operands, and no operand twice, so that a text is not much larger than what it is made of.
const maxFormat = 8 << 10

var unbounded = regexp.MustCompile(`%[-+# 0]*([0-9.]*[*\[]|[0-9]{4}|[0-9]*\.[0-9]{4})`)

// errFormat is about a format that OPA would use, and that is not used here.
var errFormat = errors.New("a format of sprintf may have 8 KiB, widths and precisions of three digits, and neither * nor [")

// sprintf formats as OPA does, whose formats are Go's.
func sprintf(operands []json.RawMessage) (string, error) {
	var format string
	var items []json.RawMessage
	if len(operands) != 2 || json.Unmarshal(operands[0], &format) != nil || json.Unmarshal(operands[1], &items) != nil {
		return "", errors.New("a format and an array are wanted")
	}
	if len(format) > maxFormat || unbounded.MatchString(strings.ReplaceAll(format, "%%", "")) {
		return "", errFormat
	}
	args := make([]any, len(items))
	for i, item := range items {
		value, err := decode(item)
		if err != nil {
			return "", err
		}
		switch v := value.(type) {
		case string:
			args[i] = v
		case json.Number:
			args[i] = number(string(v))
		default:
			args[i] = rego(v)
		}
	}
	return fmt.Sprintf(format, args...), nil
}

func decode(text json.RawMessage) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// maxDigits is how long an integer may be that is formatted as one.
const maxDigits = 1000

func number(text string) any {
	if strings.ContainsAny(text, ".eE") {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
		return text
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if len(text) <= maxDigits {
		if n, ok := new(big.Int).SetString(text, 10); ok {
			return n
		}
	}
	return text
}

// rego writes a value as OPA does in messages; sets are told as arrays.
func rego(value any) string {
	var b strings.Builder
	appendRego(&b, value)
	return b.String()
}

func appendRego(b *strings.Builder, value any) {
	switch v := value.(type) {
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			appendRego(b, item)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.Quote(name) + ": ")
			appendRego(b, v[name])
		}
		b.WriteByte('}')
	case string:
		b.WriteString(strconv.Quote(v))
	case nil:
		b.WriteString("null")
	default:
		fmt.Fprint(b, v)
	}
}
