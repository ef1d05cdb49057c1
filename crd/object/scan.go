package object

import (
	"bytes"
	"errors"
	"strconv"
)

// ErrSyntax is returned by the scanning functions for bytes that are not the
// JSON they expect.
var ErrSyntax = errors.New("object: malformed JSON")

// Fields calls fn for each field of the JSON object at the start of data
// (spaces allowed), in order, with the key's bytes as written (without quotes,
// escapes kept) and the span of the value within data. fn returns false to
// stop early; then the rest is not checked. The end of the object is returned.
func Fields(data []byte, fn func(key []byte, start, end int) bool) (int, error) {
	i := skipSpace(data, 0)
	if i >= len(data) || data[i] != '{' {
		return 0, ErrSyntax
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, nil
	}
	for {
		i = skipSpace(data, i)
		kEnd, ok := skipString(data, i)
		if !ok {
			return 0, ErrSyntax
		}
		key := data[i+1 : kEnd-1]
		i = skipSpace(data, kEnd)
		if i >= len(data) || data[i] != ':' {
			return 0, ErrSyntax
		}
		start := skipSpace(data, i+1)
		end, ok := Skip(data, start)
		if !ok {
			return 0, ErrSyntax
		}
		if !fn(key, start, end) {
			return end, nil
		}
		i = skipSpace(data, end)
		if i >= len(data) {
			return 0, ErrSyntax
		}
		switch data[i] {
		case ',':
			i++
		case '}':
			return i + 1, nil
		default:
			return 0, ErrSyntax
		}
	}
}

// Field returns the value of one top-level field, nil when it is absent or
// data is malformed before it.
func Field(data []byte, name string) []byte {
	var v []byte
	_, err := Fields(data, func(key []byte, start, end int) bool {
		if string(key) == name {
			v = data[start:end]
			return false
		}
		return true
	})
	if err != nil {
		return nil
	}
	return v
}

// String decodes a JSON string value; ok is false for anything else.
func String(v []byte) (s string, ok bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	p := parser{data: v}
	s, err := p.str()
	return s, err == nil && p.i == len(v)
}

// Skip returns the end of the JSON value at i. It checks the structure and
// leaves the insides of numbers and words to whoever decodes them.
func Skip(data []byte, i int) (int, bool) {
	depth := 0
	for i < len(data) {
		switch c := data[i]; c {
		case '"':
			end, ok := skipString(data, i)
			if !ok {
				return 0, false
			}
			i = end
		case '{', '[':
			if depth++; depth > MaxDepth {
				return 0, false
			}
			i++
		case '}', ']':
			depth--
			i++
			if depth < 0 {
				return 0, false
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return 0, false
			}
			i++
			continue
		default:
			s := i
			for i < len(data) && !delimiter(data[i]) {
				i++
			}
			if i == s {
				return 0, false
			}
		}
		if depth == 0 {
			return i, true
		}
	}
	return 0, false
}

func delimiter(c byte) bool {
	switch c {
	case ',', ':', '}', ']', '{', '[', '"', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\n' || data[i] == '\r') {
		i++
	}
	return i
}

func skipString(data []byte, i int) (int, bool) {
	if i >= len(data) || data[i] != '"' {
		return 0, false
	}
	for i++; i < len(data); {
		j := bytes.IndexByte(data[i:], '"')
		if j < 0 {
			return 0, false
		}
		i += j
		n := 0
		for k := i - 1; data[k] == '\\'; k-- {
			n++
		}
		i++
		if n%2 == 0 {
			return i, true
		}
	}
	return 0, false
}

// Metadata returns the span of the top-level metadata object.
func Metadata(data []byte) (start, end int, err error) {
	found := false
	if _, err = Fields(data, func(key []byte, s, e int) bool {
		if string(key) == "metadata" {
			start, end, found = s, e, true
			return false
		}
		return true
	}); err != nil {
		return 0, 0, err
	}
	if !found || data[start] != '{' {
		return 0, 0, ErrSyntax
	}
	return start, end, nil
}

const revisionField = "resourceVersion"

// AppendMetadata appends a metadata object with its resourceVersion set to
// rev, wherever it was set before; the other fields are copied as they are.
func AppendMetadata(dst, metadata []byte, rev int64) ([]byte, error) {
	dst = append(dst, '{')
	placed, first := false, true
	place := func() {
		if !first {
			dst = append(dst, ',')
		}
		first, placed = false, true
		dst = append(dst, `"resourceVersion":"`...)
		dst = strconv.AppendInt(dst, rev, 10)
		dst = append(dst, '"')
	}
	_, err := Fields(metadata, func(key []byte, s, e int) bool {
		if string(key) == revisionField {
			return true
		}
		if !placed && string(key) > revisionField {
			place()
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, '"')
		dst = append(dst, key...)
		dst = append(dst, '"', ':')
		dst = append(dst, metadata[s:e]...)
		return true
	})
	if err != nil {
		return nil, err
	}
	if !placed {
		place()
	}
	return append(dst, '}'), nil
}

// WithRevision returns a copy of the object data with
// metadata.resourceVersion set to rev.
func WithRevision(data []byte, rev int64) ([]byte, error) {
	s, e, err := Metadata(data)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(data)+40)
	out = append(out, data[:s]...)
	if out, err = AppendMetadata(out, data[s:e], rev); err != nil {
		return nil, err
	}
	return append(out, data[e:]...), nil
}
