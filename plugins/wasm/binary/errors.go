package binary

import "fmt"

// Problem classifies an [Error].
type Problem int

// The problems of a module.
const (
	// NotWasm: the bytes are not a core module of version 1.
	NotWasm Problem = iota
	// Malformed: the bytes break the rules of the format.
	Malformed
	// OverLimit: the module is well-formed as far as it was read, but larger
	// in some respect than the limits of this package.
	OverLimit
)

// Error says why a module is refused, and where.
type Error struct {
	Problem Problem
	// Section is the name of the section, "" when the module as a whole is
	// meant.
	Section string
	// Function is the index of the function whose body is concerned, imported
	// functions counted; -1 for none.
	Function int
	// Offset is the place in the module where reading stopped, in bytes.
	Offset int
	// Detail says what is wrong, and the limit if there is one.
	Detail string
}

// Error is one sentence.
func (e *Error) Error() string {
	where := ""
	switch {
	case e.Function >= 0:
		where = fmt.Sprintf("function %d: ", e.Function)
	case e.Section != "":
		where = e.Section + " section: "
	}
	return fmt.Sprintf("%s%s (at byte %d)", where, e.Detail, e.Offset)
}
