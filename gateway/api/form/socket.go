package form

import (
	"context"
	"crypto/sha1" // RFC 6455 asks for it, and no secret hangs on it
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// socketGUID is what RFC 6455 has a server put behind the client's key.
const socketGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// Socket is Response over a WebSocket (RFC 6455): each event is one message, of text where
// the media type is text. protocol, if not empty, is the one that is spoken.
func (f Form) Socket(h http.Header, protocol string, send func(ctx context.Context, out reply.FrameWriter)) (*reply.Response, error) {
	key := h.Get("Sec-Websocket-Key")
	if nonce, err := base64.StdEncoding.DecodeString(key); err != nil || len(nonce) != 16 {
		return nil, apierrors.NewBadRequest("Sec-WebSocket-Key: 16 bytes in base64 are needed")
	}
	if h.Get("Sec-Websocket-Version") != "13" {
		return nil, apierrors.NewBadRequest("Sec-WebSocket-Version: must be 13")
	}
	sum := sha1.Sum([]byte(key + socketGUID))
	headers := []reply.Header{{Name: "Upgrade", Value: "websocket"}, {Name: "Connection", Value: "Upgrade"}, {Name: "Sec-WebSocket-Accept", Value: base64.StdEncoding.EncodeToString(sum[:])}}
	if protocol != "" {
		headers = append(headers, reply.Header{Name: "Sec-WebSocket-Protocol", Value: protocol})
	}
	s := &socket{opcode: opBinary}
	switch f.media {
	case encoding.JSON:
		s.opcode = opText
	case encoding.Protobuf:
		s.prefix = lengthPrefix
	}
	return &reply.Response{
		Code: http.StatusSwitchingProtocols, Headers: headers, Takes: &socketReader{pong: s.pong},
		Stream: func(ctx context.Context, out reply.FrameWriter) {
			s.begin(out)
			defer s.end()
			send(ctx, s)
		},
	}, nil
}

// The frames of RFC 6455, whose last bit of the first byte says that a message ends there.
const (
	opText, opBinary, opClose, opPing, opPong = 1, 2, 8, 9, 10

	final  = 0x80
	masked = 0x80
	// mostControl is what a close, a ping and a pong may carry.
	mostControl = 125
)

// lengthPrefix is how many bytes of an event in protobuf say how long it is, which a
// message does itself.
const lengthPrefix = 4

// socket sends a stream as messages. Pings are answered by who reads, so that it is used
// by two goroutines.
type socket struct {
	opcode byte
	prefix int

	mu  sync.Mutex
	out reply.FrameWriter // nil before the stream began, and after it ended
	// asked is the last ping that waits for its pong; answering tells that one is sent.
	asked     atomic.Pointer[[]byte]
	answering atomic.Bool
	looks     int
}

func (s *socket) begin(out reply.FrameWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = out
}

// end says that nothing follows.
func (s *socket) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write([]byte{final | opClose, 2, 1000 >> 8, 1000 & 0xff})
	_ = s.out.Flush() // whoever is gone need not be told
	s.out = nil
}

// Write implements [reply.FrameWriter].
func (s *socket) Write(p []byte) (int, error) {
	s.message(s.opcode, p, nil, "")
	return len(p), nil
}

// Frame implements [reply.FrameWriter].
func (s *socket) Frame(head, body []byte, tail string) {
	n := min(s.prefix, len(head)) // an event may have all in its body
	s.message(s.opcode, head[n:], body[s.prefix-n:], tail)
}

func (s *socket) message(opcode byte, head, body []byte, tail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collect(opcode, head, body, tail)
}

func (s *socket) collect(opcode byte, head, body []byte, tail string) {
	first := make([]byte, 0, 10+len(head))
	first = append(first, final|opcode)
	switch n := len(head) + len(body) + len(tail); {
	case n <= mostControl:
		first = append(first, byte(n))
	case n < 1<<16:
		first = binary.BigEndian.AppendUint16(append(first, 126), uint16(n))
	default:
		first = binary.BigEndian.AppendUint64(append(first, 127), uint64(n))
	}
	s.out.Frame(append(first, head...), body, tail)
}

// patience is how often it is looked at whether a client takes a pong.
const patience = 25

// Hold implements [reply.FrameWriter]. keep belongs to the stream alone.
func (s *socket) Hold(keep func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.Hold(func() bool {
		if s.answering.Load() {
			s.looks++
			return s.looks < patience
		}
		return keep()
	})
}

// Flush implements [reply.FrameWriter].
func (s *socket) Flush() error {
	s.mu.Lock()
	err := s.out.Flush()
	s.mu.Unlock()
	if err == nil {
		err = s.answer()
	}
	return err
}

// pong answers a ping, now or once what is being sent was. An error tells that nothing can
// be sent any more.
func (s *socket) pong(ping []byte) error {
	s.asked.Store(&ping)
	return s.answer()
}

// answer sends the pong that is due, unless somebody else sends, who does it then.
func (s *socket) answer() (err error) {
	for err == nil && s.asked.Load() != nil && s.mu.TryLock() {
		if ping := s.asked.Swap(nil); ping != nil && s.out != nil {
			s.looks = 0
			s.answering.Store(true)
			s.collect(opPong, *ping, nil, "")
			err = s.out.Flush()
			s.answering.Store(false)
		}
		s.mu.Unlock()
	}
	return err
}

// SocketProtocol is the protocol that a client of a WebSocket asks for, "" for none. Its
// token is among them, which is none.
func SocketProtocol(h http.Header, token string) string {
	for _, list := range h.Values("Sec-Websocket-Protocol") {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); name != "" && !strings.HasPrefix(name, token) {
				return name
			}
		}
	}
	return ""
}
