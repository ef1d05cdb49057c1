package cli

import (
	"context"
	"errors"
	"net/url"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// mistake is an error about the command line itself, which nothing was tried for: a flag,
// an argument, an environment variable, or a file that one of these names.
type mistake struct{ error }

// Unwrap returns what is wrong.
func (m mistake) Unwrap() error { return m.error }

// named reads a file that the command line names.
func named(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, mistake{err}
	}
	return text, nil
}

// failure is what was tried and failed, also of a command whose other errors are mistakes.
type failure struct{ error }

// Unwrap returns what failed.
func (f failure) Unwrap() error { return f.error }

// ofServer makes errors failures that a server answered with, or that come of its not
// answering.
func ofServer(err error) error {
	var said apierrors.APIStatus
	var unreached *url.Error
	if errors.As(err, &said) || errors.As(err, &unreached) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return failure{err}
	}
	return err
}
