package form

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// wire is where a stream goes: what was flushed. It is used under the lock of its socket.
type wire struct {
	bytes.Buffer
	flushed []byte
	keep    func() bool
	fails   error
	// within is called while it flushes.
	within func()
}

func (w *wire) Frame(head, body []byte, tail string) {
	_, _ = w.Write(slices.Concat(head, body, []byte(tail)))
}
func (w *wire) Hold(keep func() bool) { w.keep = keep }
func (w *wire) Flush() error {
	if w.within != nil {
		w.within()
	}
	w.flushed = append(w.flushed, w.Bytes()...)
	w.Reset()
	return w.fails
}

// messages reads frames that a server sends, one after the other.
func messages(t *testing.T, b []byte) (out []string) {
	t.Helper()
	for len(b) > 0 {
		n, at := uint64(b[1]), 2
		switch n {
		case 126:
			n, at = uint64(binary.BigEndian.Uint16(b[2:])), 4
		case 127:
			n, at = binary.BigEndian.Uint64(b[2:]), 10
		}
		out = append(out, string(b[:1])+string(b[at:at+int(n)]))
		b = b[at+int(n):]
	}
	return out
}

// Whatever its size an event is one message, with its size in the shortest way there is.
func TestEventsAreMessages(t *testing.T) {
	for _, n := range []int{2, 125, 126, 1<<16 - 1, 1 << 16} {
		w := &wire{}
		s := &socket{opcode: opBinary, prefix: lengthPrefix}
		s.begin(w)
		s.Frame([]byte("sizeh"), bytes.Repeat([]byte("b"), n-2), "t")
		s.Frame(nil, []byte("sizeall"), "") // as a bookmark comes
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		s.end()
		want := []string{"\x82h" + string(bytes.Repeat([]byte("b"), n-2)) + "t", "\x82all", "\x88\x03\xe8"}
		if got := messages(t, w.flushed); !slices.Equal(got, want) {
			t.Errorf("%d: %.60q", n, got)
		}
		if head := map[bool]int{true: 2, false: 4}[n < 126]; n < 1<<16 && len(w.flushed) != head+n+5+4 {
			t.Errorf("%d: %d bytes", n, len(w.flushed))
		}
	}
}

// The handshake is that of RFC 6455, section 1.3.
func TestHandshake(t *testing.T) {
	h := http.Header{"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}, "Sec-Websocket-Version": {"13"}}
	r, err := Form{media: encoding.JSON}.Socket(h, "p", nil)
	if err != nil || r.Code != http.StatusSwitchingProtocols || len(r.Headers) != 4 || r.Headers[2].Value != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" || r.Headers[3].Value != "p" {
		t.Errorf("%v, %v", r, err)
	}
	for token, want := range map[string]string{"a.t": "b", "b": "a.t", "": ""} {
		h := http.Header{"Sec-Websocket-Protocol": {"a.t,  b", "c"}}
		if token == "" {
			h = nil
		}
		if got := SocketProtocol(h, token); got != want {
			t.Errorf("%q: %q", token, got)
		}
	}
}

// A ping that comes while something is sent is answered after that, in whole frames; a
// client that takes no pong is given up without asking the stream, which may be at work.
func TestPings(t *testing.T) {
	w := &wire{keep: func() bool { return false }}
	s := &socket{opcode: opText}
	s.pong([]byte("early"))
	s.begin(w)
	asked := 0
	s.Hold(func() bool { asked++; return false })
	w.within = func() {
		if w.within = nil; !s.answering.Load() {
			s.pong([]byte("first"))
			s.pong([]byte("second"))
		}
	}
	s.Frame([]byte("one"), nil, "")
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	looks := 0
	w.within = func() {
		for w.keep() {
			looks++
		}
	}
	s.pong([]byte("third"))
	if w.within = nil; asked != 0 || looks != patience-1 || w.keep() || asked != 1 {
		t.Errorf("the stream was asked %d times, the client looked after %d times", asked, looks)
	}
	s.end()
	s.pong([]byte("late"))
	if got := messages(t, w.flushed); !slices.Equal(got, []string{"\x81one", "\x8asecond", "\x8athird", "\x88\x03\xe8"}) {
		t.Errorf("%q", got)
	}
}

// Where no pong can be sent any more nothing is, and reading ends.
func TestPingsOfWhoTakesNothing(t *testing.T) {
	w := &wire{}
	s := &socket{opcode: opText}
	s.begin(w)
	w.fails = io.ErrClosedPipe
	r := &socketReader{pong: s.pong}
	for _, ping := range [][]byte{frame(0x89, true, "a"), frame(0x89, true, "")} {
		if _, err := r.Write(ping); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%q: %v", ping, err)
		}
	}
	s.asked.Store(&[]byte{})
	if err := s.Flush(); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if w.fails = nil; s.Flush() != nil || s.asked.Load() != nil {
		t.Error("the ping is not answered with the next flush")
	}
}

// Many pings beside many events leave whole frames.
func TestPingsBesideEvents(t *testing.T) {
	w := &wire{}
	s := &socket{opcode: opText}
	s.begin(w)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 500 {
				_ = s.pong([]byte("p"))
			}
		})
	}
	for range 500 {
		s.Frame([]byte("event"), nil, "")
		if err := s.Flush(); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	s.end()
	events, pongs := 0, 0
	for _, m := range messages(t, w.flushed) {
		switch m {
		case "\x81event":
			events++
		case "\x8ap":
			pongs++
		case "\x88\x03\xe8":
		default:
			t.Errorf("%q", m)
		}
	}
	if events != 500 || pongs == 0 {
		t.Errorf("%d events, %d pongs", events, pongs)
	}
}

// frame is what a client sends.
func frame(first byte, mask bool, payload string) []byte {
	b := []byte{first, byte(len(payload))}
	if len(payload) > 125 {
		b = binary.BigEndian.AppendUint16([]byte{first, 126}, uint16(len(payload)))
	}
	key := []byte{0, 0, 0, 0}
	if mask {
		b[1] |= masked
		key = []byte{1, 2, 3, 4}
		b = append(b, key...)
	}
	for i := range len(payload) {
		b = append(b, payload[i]^key[i%4])
	}
	return b
}

// FuzzSocketReader reads the same in pieces as at once, and keeps a few bytes of it.
func FuzzSocketReader(f *testing.F) {
	long := string(bytes.Repeat([]byte("x"), 200))
	f.Add(slices.Concat(frame(0x81, true, "hello"), frame(0x89, true, "ping"), frame(0x82, true, long), frame(0x89, true, ""), frame(0x88, true, "\x03\xe8")), 3)
	f.Add(frame(0x81, false, "unmasked"), 1)
	f.Add(frame(0x89, true, long), 1)
	f.Add(frame(0x09, true, "a part of a ping"), 5)
	f.Add([]byte{0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5}, 2)
	f.Fuzz(func(t *testing.T, sent []byte, piece int) {
		read := func(piece int) (pings []string, err error) {
			r := &socketReader{pong: func(b []byte) error { pings = append(pings, string(b)); return nil }}
			for p := range slices.Chunk(sent, piece) {
				if _, err = r.Write(p); err != nil {
					return pings, err
				}
				if cap(r.head) > 64 || cap(r.ping) > 256 {
					t.Fatalf("it keeps %d and %d bytes", cap(r.head), cap(r.ping))
				}
			}
			return pings, nil
		}
		if len(sent) == 0 {
			return
		}
		whole, wholeErr := read(len(sent))
		parts, partsErr := read(1 + max(piece, -piece-1)%len(sent))
		if !slices.Equal(whole, parts) || !errors.Is(partsErr, wholeErr) {
			t.Errorf("%q, %v; in pieces %q, %v", whole, wholeErr, parts, partsErr)
		}
	})
}

// What clients send is read to its end; what is no frame ends the stream.
func TestSocketReader(t *testing.T) {
	for _, c := range []struct {
		sent  []byte
		pings []string
		err   error
	}{
		{slices.Concat(frame(0x89, true, "a"), frame(0x81, true, "text"), frame(0x8a, true, "pong"), frame(0x89, true, ""), frame(0x88, true, "")), []string{"a", ""}, io.EOF},
		{append(frame(0x81, false, "text"), "more"...), nil, errSocket},
		{frame(0x89, true, string(bytes.Repeat([]byte("x"), 126))), nil, errSocket},
		{frame(0x09, true, "a"), nil, errSocket},
	} {
		var pings []string
		r := &socketReader{pong: func(b []byte) error { pings = append(pings, string(b)); return nil }}
		if _, err := r.Write(c.sent); !errors.Is(err, c.err) || !slices.Equal(pings, c.pings) {
			t.Errorf("%q: %q, %v", c.sent, pings, err)
		}
	}
	if _, err := (Form{}).Socket(http.Header{"Sec-Websocket-Key": {base64.StdEncoding.EncodeToString(make([]byte, 16))}, "Sec-Websocket-Version": {"8"}}, "", nil); err == nil || !strings.Contains(err.Error(), "Sec-WebSocket-Version: must be 13") {
		t.Errorf("another version: %v", err)
	}
	if _, err := (Form{}).Socket(http.Header{"Sec-Websocket-Key": {base64.StdEncoding.EncodeToString(make([]byte, 15))}, "Sec-Websocket-Version": {"13"}}, "", nil); err == nil {
		t.Error("a short key")
	}
}
