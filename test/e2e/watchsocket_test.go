package e2e

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	wire "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/wasmgate/wasmgate/test/harness"
)

// What browsers can do: a watch whose events are messages, with the token among the
// protocols. It is what kube-apiserver answers.
func TestWatchOverAWebSocket_WATCH01(t *testing.T) {
	t.Parallel()
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	const maps = "/api/v1/namespaces/default/configmaps"
	api.Post(maps, json.RawMessage(`{"metadata":{"name":"one"}}`)).Want(201)
	token := "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(g.Token))
	c, resp, err := dial(t, g, maps+"?watch=1&timeoutSeconds=15&fieldSelector=metadata.name=one", nil, token, "base64.binary.k8s.io")
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols || c.Subprotocol() != "base64.binary.k8s.io" {
		t.Fatalf("%v, %v", resp, err)
	}
	pongs := make(chan string, 1)
	c.SetPongHandler(func(said string) error { pongs <- said; return nil })
	next := func(want string) {
		t.Helper()
		kind, text, err := c.ReadMessage()
		var ev struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		if err == nil {
			err = json.Unmarshal(text, &ev)
		}
		if err != nil || kind != websocket.TextMessage || ev.Type+" "+ev.Object.Kind+" "+ev.Object.Name != want {
			t.Errorf("%d %s, %v: want %s", kind, text, err, want)
		}
	}
	next("ADDED ConfigMap one")
	if err := c.WriteMessage(websocket.TextMessage, []byte(strings.Repeat("nobody listens", 10000))); err != nil {
		t.Error(err)
	}
	if err := c.WriteMessage(websocket.PingMessage, []byte("there?")); err != nil {
		t.Error(err)
	}
	api.Merge(maps+"/one", json.RawMessage(`{"data":{"large":"`+strings.Repeat("x", 100000)+`"}}`)).Want(200)
	next("MODIFIED ConfigMap one")
	_, text, err := c.ReadMessage() // until the watch ends
	var closed *websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != websocket.CloseNormalClosure {
		t.Errorf("it ends with %s, %v", text, err)
	}
	if said := <-pongs; said != "there?" {
		t.Errorf("the ping is answered with %q", said)
	}
}

// Events of other media types are messages of bytes, which no length stands before.
func TestWatchOverAWebSocketInProtobuf_WATCH01(t *testing.T) {
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	const maps = "/api/v1/namespaces/default/configmaps"
	api.Post(maps, json.RawMessage(`{"metadata":{"name":"one"}}`)).Want(201)
	auth := http.Header{"Authorization": {"Bearer " + g.Token}, "Accept": {"application/vnd.kubernetes.protobuf;stream=watch"}}
	c, _, err := dial(t, g, maps+"?watch=1&fieldSelector=metadata.name=one", auth)
	if err != nil {
		t.Fatal(err)
	}
	kind, text, err := c.ReadMessage()
	if err != nil || kind != websocket.BinaryMessage {
		t.Fatalf("%d %q, %v", kind, text, err)
	}
	s := wire.NewSerializer(scheme.Scheme, scheme.Scheme)
	raw := wire.NewRawSerializer(scheme.Scheme, scheme.Scheme)
	ev := &metav1.WatchEvent{}
	if _, _, err := raw.Decode(text, nil, ev); err != nil {
		t.Fatal(err)
	}
	obj, err := runtime.Decode(s, ev.Object.Raw)
	if err != nil || ev.Type != string(watch.Added) || obj.(metav1.Object).GetName() != "one" {
		t.Errorf("%v, %v, %v", ev.Type, obj, err)
	}
	// Who says that it leaves is told the same.
	if err := c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(20*time.Second)); err != nil {
		t.Error(err)
	}
	if _, _, err := c.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Error(err)
	}
	// What is refused is refused before.
	_, resp, err := dial(t, g, maps+"?watch=1&resourceVersion=x", auth)
	if err == nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a bad revision: %v, %v", resp, err)
	}
	if _, resp, err = dial(t, g, maps+"?watch=1", nil); err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("of somebody unknown: %v, %v", resp, err)
	}
	for what, h := range map[string][]string{
		"no key":      {"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13"},
		"old version": {"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "8", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="},
		"short key":   {"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAA"},
	} {
		if r := api.Get(maps+"?watch=1", h...); r.Code != http.StatusBadRequest || !strings.Contains(string(r.Body), "Sec-WebSocket-") {
			t.Errorf("%s: %d %s", what, r.Code, r.Body)
		}
	}
}
