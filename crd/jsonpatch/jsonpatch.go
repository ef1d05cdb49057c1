// Package jsonpatch owns JSON patches (RFC 6902) that somebody else wrote: how
// many operations one may have, how much they may copy, nest and take, and that the
// library which applies them does not end the process.
//
// It must not know whose patch it is, nor what an object is.
package jsonpatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	library "gopkg.in/evanphx/json-patch.v4"
)

// MaxOperations is the most operations of one patch.
const MaxOperations = 10000

// maxCopies is how many bytes the copy operations of one patch may make, as in
// kube-apiserver: a few of them, each of the whole, double an object every time. Of one that
// is applied in parts each has this bound, and the work that they take is one for all.
const maxCopies = 3 << 20

// The library has it for the whole process.
func init() { library.AccumulatedCopySizeLimit = maxCopies }

// Patch is a list of operations.
type Patch library.Patch

// TooMany is the error for a patch that has more operations than
// [MaxOperations].
type TooMany struct {
	// Operations is how many it has.
	Operations int
}

// Error tells both numbers.
func (e *TooMany) Error() string {
	return fmt.Sprintf("it has %d operations; %d are allowed", e.Operations, MaxOperations)
}

// Decode reads a patch. Errors are the library's, or [*TooMany].
func Decode(text []byte) (Patch, error) {
	p, err := library.DecodePatch(text)
	if err != nil {
		return nil, err
	}
	if len(p) > MaxOperations {
		return nil, &TooMany{len(p)}
	}
	for _, op := range p {
		if raw := op["value"]; raw != nil {
			*raw = escaped(*raw)
		}
	}
	return Patch(p), nil
}

// Operation is one of a patch that is made of no text.
type Operation struct {
	// Op, Path and From are fields of the operation, of which From may be missing.
	Op, Path, From string
	// Value is JSON, nil for none.
	Value json.RawMessage
}

// Of is a patch of operations, whose values it may keep. An error is [*TooMany].
func Of(operations []Operation) (Patch, error) {
	if len(operations) > MaxOperations {
		return nil, &TooMany{len(operations)}
	}
	p := make(Patch, len(operations))
	for i, o := range operations {
		p[i] = library.Operation{"op": field(o.Op), "path": field(o.Path)}
		if o.From != "" {
			p[i]["from"] = field(o.From)
		}
		if o.Value != nil {
			value := json.RawMessage(escaped(o.Value))
			p[i]["value"] = &value
		}
	}
	return p, nil
}

// field is a text as kube-apiserver writes it to an operation of its own.
func field(text string) *json.RawMessage {
	raw := json.RawMessage(strconv.Quote(text))
	return &raw
}

// TestFailed tells whether what [Patch.Apply] returned is that a test operation found
// something else.
func TestFailed(err error) bool { return errors.Is(err, library.ErrTestFailed) }

// Apply is what the patch makes of a document, which it only reads. A panic of
// the library is an error: there are lists of nulls that its tests do not
// survive. So is [*TooMuch].
//
// The library writes what it made by a recursion that nothing bounds, and operations may
// nest what is there ever deeper, which ends in a stack that is full: not even a panic.
// So it has as many operations at a time as cannot nest much, and reads the text anew
// for the next ones, which refuses what is too deep.
func (p Patch) Apply(to []byte) (out []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("a defect of the patch library keeps it from being applied: %v", v)
		}
	}()
	out = escaped(to)
	var work budget
	for first := true; first || len(p) > 0; first = false {
		one := next(p, out)
		if err = work.begin(one); err != nil {
			return nil, err
		}
		if out, err = library.Patch(p[:one.operations]).Apply(out); err != nil {
			return nil, innermost(err)
		}
		if err = work.end(one, out); err != nil {
			return nil, err
		}
		p = p[one.operations:]
	}
	return out, nil
}
