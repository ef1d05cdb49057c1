package e2e

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clientspdy "k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/wasmgate/wasmgate/test/harness"
)

const (
	talkGroup = "talk.example.com"
	// administrator is who has the token of a gateway's Server.
	administrator = "wasmgate-admin"
	talks         = "/apis/" + talkGroup + "/v1/namespaces/default/lines/one/"
)

// talking is an extension server that talks other protocols with its clients, whose names
// it says first.
type talking struct {
	*extension
	// left are the ends of its conversations.
	left chan error
}

// newTalking serves until the test ends, to whom the gateway's own authority vouches for.
func newTalking(t *testing.T, trust string) *talking {
	t.Helper()
	s := &talking{extension: newExtension(t, "talking"), left: make(chan error, 8)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM([]byte(trust)) {
		t.Fatalf("no authority: %s", trust)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/apis/"+talkGroup+"/v1", s.described)
	mux.HandleFunc(talks+"socket", s.socket)
	mux.HandleFunc(talks+"streams", s.streams)
	mux.HandleFunc(talks+"echo", echo)
	mux.HandleFunc(talks+"refuse", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not a word", http.StatusForbidden) })
	server := &http.Server{Handler: mux, TLSConfig: &tls.Config{ClientCAs: authorities, ClientAuth: tls.RequireAndVerifyClientCert}, ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.ServeTLS(l, s.cert, s.key) })
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return s
}

func (s *talking) described(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: talkGroup + "/v1",
		APIResources: []metav1.APIResource{{Name: "lines", Kind: "Line", Namespaced: true, Verbs: []string{"get"}}},
	})
}

// echo says what it hears, from its first words on.
func echo(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).EnableFullDuplex()
	b := make([]byte, 32<<10)
	for {
		n, err := r.Body.Read(b)
		_, _ = w.Write(b[:n])
		w.(http.Flusher).Flush()
		if err != nil {
			return
		}
	}
}

// socket says by WebSocket what it hears.
func (s *talking) socket(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{Subprotocols: []string{"talk"}}
	c, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // who asks otherwise was told
	}
	defer c.Close()
	err = c.WriteMessage(websocket.TextMessage, []byte("hello "+r.Header.Get("X-Remote-User")+r.Header.Get("Authorization")))
	for err == nil {
		var kind int
		var said []byte
		if kind, said, err = c.ReadMessage(); err == nil {
			if string(said) == "bye" {
				return
			}
			err = c.WriteMessage(kind, said)
		}
	}
	s.left <- err
}

// streams says by SPDY what it hears, on each stream.
func (s *talking) streams(w http.ResponseWriter, r *http.Request) {
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io"}); err != nil {
		return
	}
	all := make(chan httpstream.Stream, 8)
	c := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		all <- stream
		return nil
	})
	if c == nil {
		return
	}
	defer c.Close()
	for {
		select {
		case <-c.CloseChan():
			s.left <- io.EOF
			return
		case stream := <-all:
			go func() {
				_, _ = io.WriteString(stream, "hello "+r.Header.Get("X-Remote-User")+" ")
				_, _ = io.Copy(stream, stream)
				_ = stream.Close()
			}()
		}
	}
}

// talkingBehind is such a server, behind a gateway of its own.
func talkingBehind(t *testing.T) (*talking, *harness.Gateway) {
	t.Helper()
	front := harness.Start(t, harness.Options{})
	api := front.API(t)
	const config = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
	trust := api.Eventually(config, func(r *harness.Reply) bool { return r.Code == 200 }).Str("data.requestheader-client-ca-file")
	s := newTalking(t, trust)
	api.Eventually(s.register(api, talkGroup, "v1"), available("Passed"))
	api.Eventually("/apis/"+talkGroup+"/v1", func(r *harness.Reply) bool { return r.Code == 200 })
	return s, front
}

// dial opens a WebSocket by way of the gateway, as a user by token.
func dial(t *testing.T, front *harness.Gateway, path string, h http.Header, protocols ...string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	config, err := rest.TLSConfigFor(front.Config())
	if err != nil {
		t.Fatal(err)
	}
	d := websocket.Dialer{TLSClientConfig: config, Subprotocols: append(protocols, "talk"), HandshakeTimeout: time.Minute}
	c, resp, err := d.DialContext(t.Context(), strings.Replace(front.URL, "https:", "wss:", 1)+path, h)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	}
	return c, resp, err
}

func byToken(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// hears expects a message.
func hears(t *testing.T, c *websocket.Conn, want string) {
	t.Helper()
	if _, said, err := c.ReadMessage(); err != nil || string(said) != want {
		t.Fatalf("%.100q %v, want %.100q", said, err, want)
	}
}

// ends expects that a conversation ended on the side of the server.
func (s *talking) ends(t *testing.T) {
	t.Helper()
	select {
	case <-s.left:
	case <-time.After(time.Minute):
		t.Fatal("the server still has the conversation")
	}
}

// WebSockets and SPDY pass to an extension server and back, in the name of the user, as
// long as the server, the client and the gateway are there. Refusals are those of who
// refuses.
func TestUpgradesToAnExtensionServer(t *testing.T) {
	s, front := talkingBehind(t)
	c, resp, err := dial(t, front, talks+"socket", byToken(front.Token))
	if err != nil {
		t.Fatal(err)
	}
	if c.Subprotocol() != "talk" || resp.StatusCode != 101 {
		t.Errorf("%d %q", resp.StatusCode, c.Subprotocol())
	}
	hears(t, c, "hello "+administrator)
	for _, size := range []int{1, 100, 70_000, 1 << 20} {
		said := strings.Repeat("x", size)
		written := make(chan error)
		go func() { written <- c.WriteMessage(websocket.TextMessage, []byte(said)) }()
		hears(t, c, said)
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	}
	_ = c.WriteMessage(websocket.TextMessage, []byte("bye")) // the server hangs up
	if _, _, err := c.ReadMessage(); err == nil {
		t.Error("a message after the end")
	}
	if c, _, err = dial(t, front, talks+"socket", byToken(front.Token)); err != nil {
		t.Fatal(err)
	}
	hears(t, c, "hello "+administrator)
	_ = c.Close() // the client does
	s.ends(t)
	fromBrowser := "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(front.Token))
	if c, _, err = dial(t, front, talks+"socket", nil, fromBrowser); err != nil {
		t.Fatal(err)
	}
	hears(t, c, "hello "+administrator)
	_ = c.Close()
	s.ends(t)

	if _, resp, err = dial(t, front, talks+"none", byToken(front.Token)); err == nil || resp.StatusCode != 404 {
		t.Errorf("the server has no such thing: %v %v", resp, err)
	}
	if _, resp, err = dial(t, front, talks+"socket", byToken("wrong")); err == nil || resp.StatusCode != 401 {
		t.Errorf("who is not known: %v %v", resp, err)
	}
	refused := front.API(t).Get(talks+"socket", "Connection", "Upgrade", "Upgrade", "websocket", "Sec-Websocket-Version", "13").Want(400)
	if !refused.Contains("websocket: not a websocket handshake") && !refused.Contains("Bad Request") {
		t.Errorf("%s", refused.Body)
	}
	s.streamed(t, front)

	if c, _, err = dial(t, front, talks+"socket", byToken(front.Token)); err != nil {
		t.Fatal(err)
	}
	hears(t, c, "hello "+administrator)
	front.Terminate(t) // the gateway does
	s.ends(t)
	if _, _, err := c.ReadMessage(); err == nil {
		t.Error("a message after the end")
	}
}

// streamed talks by SPDY as kubectl exec does, on two streams of one connection.
func (s *talking) streamed(t *testing.T, front *harness.Gateway) {
	t.Helper()
	by, upgrader, err := clientspdy.RoundTripperFor(front.Config())
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(front.URL + talks + "streams")
	if err != nil {
		t.Fatal(err)
	}
	c, protocol, err := clientspdy.NewDialer(upgrader, &http.Client{Transport: by}, http.MethodPost, at).Dial("v4.channel.k8s.io")
	if err != nil {
		t.Fatal(protocol, err)
	}
	defer c.Close()
	for _, name := range []string{"one", "two"} {
		stream, err := c.CreateStream(http.Header{"Name": {name}})
		if err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat(name, 100_000)
		go func() {
			_, _ = io.WriteString(stream, long)
			_ = stream.Close()
		}()
		if got, err := io.ReadAll(stream); err != nil || string(got) != "hello "+administrator+" "+long {
			t.Errorf("%s: %d bytes %.50q %v", name, len(got), got, err)
		}
	}
	_ = c.Close()
	s.ends(t)
}

// sends sends a body as it comes to the extension server, by way of the gateway.
func sends(t *testing.T, front *harness.Gateway, path string, body io.Reader) (*http.Response, error) {
	t.Helper()
	by, err := rest.HTTPClientFor(front.Config())
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+talks+path, body)
	if err != nil {
		t.Fatal(err)
	}
	return by.Do(r)
}

// A body is sent on while it comes, so that the server can answer what it heard; what is
// too large is refused all the same, and a refusal does not wait for the body.
func TestBodiesToAnExtensionServer(t *testing.T) {
	_, front := talkingBehind(t)
	from, to := io.Pipe()
	go func() { _, _ = io.WriteString(to, "first ") }()
	resp, err := sends(t, front, "echo", from)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, 6)
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "first " {
		t.Fatalf("%q %v", first, err)
	}
	long := strings.Repeat("more ", 100_000)
	go func() {
		_, _ = io.WriteString(to, long)
		_ = to.Close()
	}()
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != long {
		t.Errorf("%d bytes: %v", len(rest), err)
	}
	for length, want := range map[int]int{1: 200, 64 << 10: 200, 64<<10 + 1: 200, 3 << 20: 200, 3<<20 + 1: 413} {
		resp, err := sends(t, front, "echo", bytes.NewReader(make([]byte, length)))
		if err != nil {
			t.Fatal(length, err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != want || want == 200 && len(got) != length {
			t.Errorf("%d bytes: %d, and %d bytes came back: %v", length, resp.StatusCode, len(got), err)
		}
	}
	never, kept := io.Pipe()
	defer kept.Close()
	resp, err = sends(t, front, "refuse", never)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 403 || string(got) != "not a word\n" {
		t.Errorf("%d %s %v", resp.StatusCode, got, err)
	}
}
