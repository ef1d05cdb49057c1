package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// Handler answers requests. It is safe for concurrent use.
type Handler interface {
	Serve(*api.Request) *reply.Response
}

// Options configure a [Server].
type Options struct {
	Handler Handler
	// TLS is required: there is no plain HTTP.
	TLS *tls.Config
	// Bodies is where the memory for the bodies of all requests comes from that are
	// being answered.
	Bodies Memory
	// Connections counts those that are open; nil for nobody.
	Connections *bounds.Connections
	// Refused, if not nil, is told of what never became a request. It must not block.
	Refused func(Refusal)
	Log     zerolog.Logger
}

// Server serves one listener.
type Server struct {
	options Options
	app     *fiber.App
	// connections are those that requests come in on.
	connections connections

	// ctx ends when streams have to.
	ctx    context.Context
	cancel context.CancelFunc
	// drained is closed once nobody waits any longer for requests to end.
	drained chan struct{}
	drain   sync.Once
	// streams counts connections that were taken over.
	streams sync.WaitGroup
	// leftBehind is how long what a client sent that has left may wait to be taken.
	leftBehind time.Duration

	mu       sync.Mutex
	listener net.Listener // nil before Serve
}

const (
	// headTimeout bounds the TLS handshake and the head of a request,
	// bodyTimeout its body, idleTimeout a connection between requests.
	headTimeout  = 30 * time.Second
	bodyTimeout  = 90 * time.Second
	idleTimeout  = 3 * time.Minute
	writeTimeout = 2 * time.Minute
	// readBuffer is also the most that the head of a request may have.
	readBuffer = 16 << 10
	// writeBuffer is what a TLS record can hold, so that a reply of that size
	// is one record and one system call.
	writeBuffer = 16 << 10
)

// methods are those that the framework knows, the most frequent first.
var methods = []string{
	http.MethodGet, http.MethodPatch, http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodHead,
	http.MethodOptions, http.MethodTrace, http.MethodConnect,
}

// New makes a server.
func New(o Options) *Server {
	// Small records first, and larger ones later, would make several of a reply
	// that fits into one.
	o.TLS = o.TLS.Clone()
	o.TLS.DynamicRecordSizingDisabled = true
	s := &Server{options: o, drained: make(chan struct{}), leftBehind: streamWriteTimeout}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.app = fiber.New(fiber.Config{
		DisableStartupMessage: true, DisableDefaultDate: false, ServerHeader: "",
		StreamRequestBody: true, ReadTimeout: headTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		ReadBufferSize: readBuffer, WriteBufferSize: writeBuffer, Concurrency: 1 << 18,
		ErrorHandler: s.frameworkError, DisablePreParseMultipartForm: true,
		RequestMethods: methods,
	})
	s.app.Server().HeaderReceived = limits
	s.app.Server().Handler = s.withBody(s.app.Server().Handler)
	s.app.Server().NoDefaultContentType = true
	s.app.Server().CloseOnShutdown = true   // else a reply may be lost that waits for the next one
	s.app.Server().KeepHijackedConns = true // takeOver closes them itself
	s.app.Server().Logger = quiet{o.Log}
	s.app.Use(s.handle)
	return s
}

// limits is asked between the head and the body, of which the framework reads
// no more than a few kilobytes before the handler does. It tells a client to go on
// with its body whose Expect is in the letters that it looks for.
func limits(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if value := h.Peek(fasthttp.HeaderExpect); len(value) > 0 && bytes.EqualFold(value, []byte(goOn)) {
		h.Set(fasthttp.HeaderExpect, goOn)
	}
	return fasthttp.RequestConfig{ReadTimeout: bodyTimeout, WriteTimeout: writeTimeout}
}

// Serve serves l until [Server.Shutdown]. It closes l.
func (s *Server) Serve(l net.Listener) error {
	if !s.begin(l) {
		return nil
	}
	go s.connections.watch(s.drained)
	err := s.app.Listener(&listener{Listener: l, tls: s.options.TLS, connections: &s.connections, server: s, log: s.options.Log})
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// begin remembers the listener, so that a Shutdown that comes before the
// framework knows it ends it all the same.
func (s *Server) begin(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = l
	if s.ctx.Err() != nil {
		_ = l.Close() // nothing was accepted
		return false
	}
	return true
}

// Shutdown stops taking connections, ends streams cleanly, and waits until
// every request is answered or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	l := s.listener
	s.mu.Unlock()
	if l != nil { // first, so that whose stream ends does not come back here
		_ = l.Close() // the framework may close it once more
	}
	s.cancel()
	if l == nil {
		return nil
	}
	defer s.drain.Do(func() { close(s.drained) })
	s.connections.close()
	err := s.app.ShutdownWithContext(ctx)
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("requests still under way: %w", err)
	}
	// From here on no request is served, so none can become a stream.
	done := make(chan struct{})
	go func() {
		s.streams.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("streams still open: %w", ctx.Err())
	}
}

// quiet sends the framework's own messages to the log.
type quiet struct{ log zerolog.Logger }

// Printf logs what the framework says about a connection. Its errors may quote
// what the client sent, so only those of the network are told.
func (q quiet) Printf(format string, args ...any) {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = unquoted(err)
		}
	}
	q.log.Debug().Msgf(format, args...)
}

// unquoted is an error's text if it is about the network, else its type.
func unquoted(err error) string {
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err.Error()
	}
	return fmt.Sprintf("%T", err)
}
