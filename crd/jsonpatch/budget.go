package jsonpatch

import (
	"bytes"
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
	// maxWork is what a patch may take, in a unit that is a nanosecond or less: some seconds,
	// which nothing ends before.
	maxWork = 1 << 32
	// reading and opening are what the library takes for each byte of the document: to read
	// and write it, and to read anew what is below each step of a path. shifting is for each
	// item of a list that is copied, and copying for each byte of a value that is, and each
	// level that was opened in it.
	reading, opening, shifting, copying = 64, 32, 8, 8
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

// part is what some operations, which are applied together, have to do with.
type part struct {
	operations int
	size       int // the bytes of the document and of the values
	items      int // that these have, at most
	deepest    int // the steps of the longest path
	nested     int // the levels that may be put around something
	shifts     int // how often a list is copied to make or take room
	copies     int // operations that copy
}

// next is what is to be done next, with a document.
func next(p Patch, to []byte) (one part) {
	one.size = len(to)
	_, one.items = extent(to)
	for _, op := range p {
		path, from, shifts := places(op)
		kind := op.Kind()
		if kind == "move" || kind == "copy" {
			if one.operations > 0 && one.nested+path > maxNesting {
				break
			}
			one.nested += path
		}
		if kind == "copy" {
			one.copies++
		}
		text := value(op)
		deep, items := extent(text)
		if kind == "test" { // which opens all that it compares
			path += deep
		}
		one.operations++
		one.size += len(text)
		one.items += items
		one.shifts += shifts
		one.deepest = max(one.deepest, path, from)
	}
	return one
}

// budget is how much work was done.
type budget struct{ spent int }

// begin charges what is known of a part before it is done.
func (b *budget) begin(one part) error {
	each := reading + opening*one.deepest
	copied := min(one.copies*one.size, maxCopies)
	return b.spend(one, each*one.size+copying*(1+one.deepest)*copied+shifting*one.shifts*one.items)
}

// end charges what is known once it is done: how deep what was nested has become.
func (b *budget) end(one part, out []byte) error {
	if one.nested == 0 {
		return nil
	}
	deep, _ := extent(out)
	return b.spend(one, opening*min(one.nested, max(deep-one.deepest, 0))*one.size)
}

func (b *budget) spend(one part, work int) error {
	if work > maxWork-b.spent {
		return &TooMuch{one.size}
	}
	b.spent += work
	return nil
}

// places are the steps of the paths of an operation, and how many of the two end at an
// index, for which a list is copied.
func places(op library.Operation) (path, from, shifts int) {
	to, _ := op.Path() // who has none fails when it is applied
	of, _ := op.From()
	for _, place := range [...]string{to, of} {
		if _, err := strconv.Atoi(place[strings.LastIndexByte(place, '/')+1:]); err == nil && op.Kind() != "replace" && op.Kind() != "test" {
			shifts++
		}
	}
	return strings.Count(to, "/"), strings.Count(of, "/"), shifts
}

// value is the JSON text of an operation's value.
func value(op library.Operation) []byte {
	if raw := op["value"]; raw != nil {
		return *raw
	}
	return nil
}

// extent is how many lists and objects a JSON text has within each other, and how many
// items all of them have, at most.
func extent(text []byte) (depth, items int) {
	open, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == ',':
			items++
		case c == '[' || c == '{':
			items++
			open++
			depth = max(depth, open)
		case c == ']' || c == '}':
			open--
		}
	}
	return depth, items
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

// escaped is a JSON text as the library's encoder writes it, with escapes for HTML: it
// compares texts as they are written, and has written the document after each part.
func escaped(text []byte) []byte {
	if !bytes.ContainsAny(text, "<>&") && !bytes.Contains(text, []byte("\xe2\x80")) { // U+2028 and U+2029, too
		return text
	}
	var out bytes.Buffer
	json.HTMLEscape(&out, text)
	return out.Bytes()
}
