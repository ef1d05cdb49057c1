package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"github.com/wasmgate/wasmgate/gateway/api"
)

// Handler answers requests. It is safe for concurrent use.
type Handler interface {
	Serve(*api.Request) *api.Response
}

// Options configure a [Server].
type Options struct {
	Handler Handler
	// TLS is required: there is no plain HTTP.
	TLS *tls.Config
	// BodyLimit is the largest request body that is read at all. What is
	// allowed below it is the handler's business.
	BodyLimit int
	// LargeBody tells the paths of requests that may be as large as
	// LargeBodyLimit.
	LargeBody      func(method, path string) bool
	LargeBodyLimit int
	Log            zerolog.Logger
}

// Server serves one listener.
type Server struct {
	options Options
	app     *fiber.App

	// ctx ends when streams have to.
	ctx    context.Context
	cancel context.CancelFunc
	// streams counts connections that were taken over.
	streams sync.WaitGroup
}

const (
	// readTimeout bounds reading a request once it has begun; idleTimeout an
	// idle connection.
	readTimeout  = 90 * time.Second
	idleTimeout  = 3 * time.Minute
	writeTimeout = 2 * time.Minute
	readBuffer   = 16 << 10
	writeBuffer  = 4 << 10
)

// New makes a server.
func New(o Options) *Server {
	s := &Server{options: o}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.app = fiber.New(fiber.Config{
		DisableStartupMessage: true, DisableDefaultDate: false, ServerHeader: "",
		BodyLimit: o.LargeBodyLimit, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		ReadBufferSize: readBuffer, WriteBufferSize: writeBuffer, Concurrency: 1 << 18,
		ErrorHandler: s.frameworkError, DisablePreParseMultipartForm: true,
		RequestMethods: []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"},
	})
	s.app.Server().HeaderReceived = s.limits
	s.app.Server().NoDefaultContentType = true
	s.app.Server().Logger = quiet{o.Log}
	s.app.Use(s.handle)
	return s
}

// limits is asked before a body is read.
func (s *Server) limits(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	limit := s.options.BodyLimit
	if s.options.LargeBody != nil && s.options.LargeBody(string(h.Method()), string(h.RequestURI())) {
		limit = s.options.LargeBodyLimit
	}
	return fasthttp.RequestConfig{MaxRequestBodySize: limit, ReadTimeout: readTimeout, WriteTimeout: writeTimeout}
}

// Serve serves l until [Server.Shutdown]. It closes l.
func (s *Server) Serve(l net.Listener) error {
	if err := s.app.Listener(tls.NewListener(l, s.options.TLS)); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// Shutdown stops taking connections, ends streams cleanly, and waits until
// every request is answered or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.cancel()
	done := make(chan struct{})
	go func() {
		s.streams.Wait()
		close(done)
	}()
	err := s.app.ShutdownWithContext(ctx)
	select {
	case <-done:
	case <-ctx.Done():
		return errors.Join(err, fmt.Errorf("streams still open: %w", ctx.Err()))
	}
	return err
}

// quiet sends the framework's own messages to the log.
type quiet struct{ log zerolog.Logger }

func (q quiet) Printf(format string, args ...any) {
	q.log.Debug().Msgf(format, args...)
}
