package transport

import (
	"errors"
	"io"
	"net"

	"github.com/valyala/fasthttp"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// Refusal is what never became a request, and why.
type Refusal struct {
	Remote net.Addr
	// Method and Path are empty when the line that has them could not be read.
	Method, Path string
	// Code is the HTTP status that was answered; 0 when there was no TLS
	// connection to answer on.
	Code int
	// Message is what the client was told, or would have been. It repeats nothing
	// that was sent.
	Message string
}

// refuse answers what never becomes a request, and tells of it.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, r Refusal) {
	r.Remote = ctx.RemoteAddr()
	s.tell(r)
	s.reply(ctx, reply.Failure(r.Code, r.Message))
}

func (s *Server) tell(r Refusal) {
	if s.options.Refused != nil {
		s.options.Refused(r)
	}
}

// refusedTLS tells of a handshake that failed, unless the client only left: those
// who look whether a port is open do.
func (s *Server) refusedTLS(remote net.Addr, err error) {
	var network *net.OpError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) && network.Op != "remote error" {
		return
	}
	s.tell(Refusal{Remote: remote, Message: "no TLS connection: " + err.Error()})
}
