package transport

import "errors"

// allowance bounds what a body in chunks takes on a connection: around its bytes
// are the sizes of the chunks, which may go on with extensions that nobody needs,
// and which whoever reads them would read for ever. Its zero value bounds nothing.
type allowance struct{ most, taken int }

const (
	// freeChunks is what a body in chunks may take besides what perChunked allows.
	freeChunks = 64 << 10
	// perChunked is what each of its bytes may take. In a chunk of its own it
	// takes six.
	perChunked = 8
)

var errChunks = errors.New("the chunks of the body are mostly something else")

// allow is called before more is read of a body of which got bytes were read.
func (a *allowance) allow(got int) { a.most = freeChunks + perChunked*got }

// take counts n bytes that came.
func (a *allowance) take(n int) error {
	if a.most == 0 {
		return nil
	}
	if a.taken += n; a.taken > a.most {
		return errChunks
	}
	return nil
}

// end is called when the body is over.
func (a *allowance) end() { *a = allowance{} }
