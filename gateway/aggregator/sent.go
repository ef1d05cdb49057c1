package aggregator

import (
	"errors"
	"io"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// sent is a body that is sent on as it comes, and remembers why it did not all come.
type sent struct {
	io.ReadCloser
	why atomic.Pointer[error]
}

// Read implements [io.Reader].
func (s *sent) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		s.why.Store(&err)
	}
	return n, err
}

// failed is why the client's body was not read to its end; nil where it was, or nobody
// wanted to.
func (s *sent) failed() error {
	if why := s.why.Load(); why != nil {
		return *why
	}
	return nil
}
