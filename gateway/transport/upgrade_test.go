package transport

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// changing is the reply of a request whose connection is connected to a peer from then
// on; left is closed when that is over.
func changing() (resp *reply.Response, peer net.Conn, left chan struct{}) {
	near, far := net.Pipe()
	left = make(chan struct{})
	return &reply.Response{
		Code: http.StatusSwitchingProtocols, Headers: []reply.Header{{Name: "Connection", Value: "Upgrade"}, {Name: "Upgrade", Value: "words"}}, Takes: near,
		Stream: func(ctx context.Context, w reply.FrameWriter) {
			defer close(left)
			defer near.Close()
			defer context.AfterFunc(ctx, func() { _ = near.Close() })()
			b := make([]byte, 1<<10)
			for err := w.Flush(); err == nil; err = w.Flush() {
				n, err := near.Read(b)
				if err != nil {
					return
				}
				_, _ = w.Write(b[:n])
			}
		},
	}, far, left
}

// upgradable is a server whose requests get such replies.
func upgradable(t *testing.T) (r *running, peers chan net.Conn, left chan chan struct{}) {
	peers, left = make(chan net.Conn, 1), make(chan chan struct{}, 1)
	return run(t, func(r *api.Request) *reply.Response {
		if !r.Upgrade {
			t.Errorf("a request for %s was not known for what it is", r.Path)
		}
		resp, peer, over := changing()
		peers <- peer
		left <- over
		return resp
	}), peers, left
}

const wantsWords = "GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: words\r\n\r\n"

// begin asks for another protocol, with what is sent along, and reads the head.
func begin(t *testing.T, r *running, along string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c := r.dial()
	if _, err := io.WriteString(c, wantsWords+along); err != nil {
		t.Fatal(err)
	}
	in, head := bufio.NewReader(c), ""
	for !strings.HasSuffix(head, "\r\n\r\n") {
		line, err := in.ReadString('\n')
		if head += line; err != nil {
			t.Fatal(head, err)
		}
	}
	if head != "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: words\r\n\r\n" {
		t.Errorf("%q", head)
	}
	return c, in
}

// expect reads what is sent next.
func expect(t *testing.T, from io.Reader, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if _, err := io.ReadFull(from, b); err != nil || string(b) != want {
		t.Errorf("%q %v, want %q", b, err, want)
	}
}

// Bytes go both ways as they are, from those that came along with the request on, until
// the other end closes.
func TestUpgrade_BytesGoBothWays(t *testing.T) {
	r, peers, left := upgradable(t)
	long := strings.Repeat("long ", 20_000)
	client, in := begin(t, r, "early ")
	peer := <-peers
	_ = peer.SetDeadline(time.Now().Add(patience))
	expect(t, peer, "early ")
	go func() { _, _ = io.WriteString(client, long) }()
	expect(t, peer, long)
	go func() { _, _ = io.WriteString(peer, long+"0\r\n\r\n") }()
	expect(t, in, long+"0\r\n\r\n")
	_ = peer.Close()
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("at the end %q %v", rest, err)
	}
	within(t, "the end of the reply", <-left)
}

// A client that leaves ends it for the peer.
func TestUpgrade_DepartedClientEndsIt(t *testing.T) {
	r, peers, left := upgradable(t)
	client, _ := begin(t, r, "")
	peer := <-peers
	_ = client.Close()
	within(t, "the end of the reply", <-left)
	if _, err := peer.Read(make([]byte, 1)); err == nil {
		t.Error("the peer reads on")
	}
}

// A client that leaves is noticed, too, where the peer takes nothing of what it sent; one
// that is there is waited for.
func TestUpgrade_DepartedClientEndsItThoughThePeerTakesNothing(t *testing.T) {
	r, peers, left := upgradable(t)
	r.server.leftBehind = time.Millisecond
	client, _ := begin(t, r, "")
	<-peers
	if _, err := io.WriteString(client, "what nobody takes"); err != nil {
		t.Fatal(err)
	}
	over := <-left
	select {
	case <-over:
		t.Error("a client that is there was given up")
	case <-time.After(50 * time.Millisecond):
	}
	_ = client.Close()
	within(t, "the end of the reply", over)
}

// A server that stops ends it for both, also where neither takes what is sent to it.
func TestUpgrade_ShutdownEndsIt(t *testing.T) {
	for name, stuck := range map[string]bool{"idle": false, "the peer takes nothing": true} {
		t.Run(name, func(t *testing.T) {
			r, peers, left := upgradable(t)
			client, in := begin(t, r, "")
			<-peers
			if stuck {
				if _, err := io.WriteString(client, "what nobody takes"); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := r.server.Shutdown(ctx); err != nil {
				t.Error(err)
			}
			within(t, "the end of the reply", <-left)
			if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
				t.Errorf("at the end %q %v", rest, err)
			}
		})
	}
}
