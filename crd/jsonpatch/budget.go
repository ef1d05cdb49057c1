package jsonpatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	library "gopkg.in/evanphx/json-patch.v4"
)

const (
	// maxNesting is how many levels operations that are applied together may put around what
	// is there already: each that the library has opened it writes as often as there are
	// levels around it.
	maxNesting = 64
	// maxWork is what a patch may take, in items of lists that are copied: some seconds,
	// which nothing ends before.
	maxWork = 1 << 32
	// reading and opening are what the library takes, in the same unit, for each byte of the
	// document: to read and write it, and to read anew what is below each step of a path.
	reading, opening = 64, 32
)

// TooMuch is the error for a patch that takes too much work.
type TooMuch struct {
	// Bytes are those of the document and of the values that are put into it.
	Bytes int
}

// Error says what takes the work.
func (e *TooMuch) Error() string {
	return fmt.Sprintf("its operations on lists and in deep places take too long where the object and the values have %d bytes: send it in parts, or as another kind of patch", e.Bytes)
}

// budget is how much work is left.
type budget struct{ spent int }

// next is how many of the operations are to be applied together to a document.
func (b *budget) next(p Patch, to []byte) (n int, err error) {
	size, deepest, nested, moved := len(to), depth(to), 0, 0
	for _, op := range p {
		path, from, indexes := places(op)
		if kind := op.Kind(); kind == "move" || kind == "copy" {
			nested += path
		}
		if n > 0 && nested > maxNesting {
			break
		}
		n++
		size += len(value(op))
		moved += indexes
		deepest = max(deepest, path, from)
	}
	if n == 0 {
		return 0, nil
	}
	each := reading + opening*deepest + moved
	if size > 0 && each > (maxWork-b.spent)/size {
		return 0, &TooMuch{size}
	}
	b.spent += each * size
	return n, nil
}

// places are the steps of the paths of an operation, and how many of the two end at an
// index, for which a list is copied.
func places(op library.Operation) (path, from, indexes int) {
	to, _ := op.Path() // who has none fails when it is applied
	of, _ := op.From()
	for _, place := range [...]string{to, of} {
		if _, err := strconv.Atoi(place[strings.LastIndexByte(place, '/')+1:]); err == nil && op.Kind() != "replace" && op.Kind() != "test" {
			indexes++
		}
	}
	return strings.Count(to, "/"), strings.Count(of, "/"), indexes
}

// value is the JSON text of an operation's value.
func value(op library.Operation) []byte {
	if raw := op["value"]; raw != nil {
		return *raw
	}
	return nil
}

// depth is how many lists and objects a JSON text has within each other.
func depth(text []byte) (most int) {
	open, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[' || c == '{':
			open++
			most = max(most, open)
		case c == ']' || c == '}':
			open--
		}
	}
	return most
}

// innermost is the error of a value that could not be written: it comes in one of each
// value around it, and a text of all of them grows with the square of the depth.
func innermost(err error) error {
	var around *json.MarshalerError
	for errors.As(err, &around) {
		err = around.Err
	}
	return err
}
