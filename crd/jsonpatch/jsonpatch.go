// Package jsonpatch owns JSON patches (RFC 6902) that somebody else wrote: how
// many operations one may have, how much they may copy, nest and take, and that the
// library which applies them does not end the process.
//
// It must not know whose patch it is, nor what an object is.
package jsonpatch

import (
	"fmt"

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

// Apply is what the patch makes of a document, which it only reads. A panic of
// the library is an error: there are lists of nulls that its tests do not
// survive. So is [*TooMuch].
//
// The library writes what it made by a recursion that nothing bounds, and operations may
// nest what is there ever deeper, which ends in a stack that is full: not even a panic.
// So it has as many operations at a time as cannot nest much, and reads the text anew
// for the next ones, which refuses what is too deep.
func (p Patch) Apply(to []byte) (out []byte, err error) {
	defer Recovered(&err)
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

// Recovered, deferred, makes an error of a panic of the library, for who has it apply
// patches by another way than [Patch.Apply].
func Recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("a defect of the patch library keeps it from being applied: %v", v)
	}
}
