package oci

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// idleTimeout is how long a registry may send nothing.
const idleTimeout = 30 * time.Second

var (
	errSilent = errors.New("it sent nothing for " + idleTimeout.String())
	errSlow   = errors.New("it took longer than its share of the time")
)

// pullWithin fetches a module from one place of several that are left, which has its share
// of the time that is left: a slow one leaves time for the next.
func (c Client) pullWithin(ctx context.Context, left int, p place, login Login) (*Artifact, error) {
	if until, bounded := ctx.Deadline(); bounded && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Until(until)/time.Duration(left), errSlow)
		defer cancel()
	}
	return c.pull(ctx, p, login)
}

// watched is a context that ends when nothing comes for too long, and what tells
// that something came.
func watched(ctx context.Context) (_ context.Context, came func(), stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(idleTimeout, func() { cancel(errSilent) })
	return ctx, func() { late.Reset(idleTimeout) }, func() {
		late.Stop()
		cancel(nil)
	}
}

// heard tells of what comes.
type heard struct {
	base http.RoundTripper
	came func()
}

// RoundTrip implements [http.RoundTripper].
func (h heard) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := h.base.RoundTrip(r)
	if err == nil {
		h.came()
		response.Body = heardBody{response.Body, h.came}
	}
	return response, err
}

type heardBody struct {
	io.ReadCloser
	came func()
}

// Read implements [io.Reader].
func (b heardBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.came()
	}
	return n, err
}
