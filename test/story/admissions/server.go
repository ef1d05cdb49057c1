package admissions

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/admissions/answer"
)

// Server is the webhook as an HTTPS server.
type Server struct{ *httptest.Server }

// NewServer starts one; the caller closes it.
func NewServer() Server {
	return Server{httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		reply, ok := answer.Review(review)
		if !ok {
			http.Error(w, "no answer", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", story.JSON)
		_, _ = w.Write(reply)
	}))}
}

// Via sends steps with the server as their webhook, whose address is not
// repeated in what is received.
func (s Server) Via(send story.Send) story.Send {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	to := With(map[string]any{"url": s.URL, "caBundle": ca}, send)
	return func(ctx context.Context, step story.Step) (int, http.Header, []byte, error) {
		code, header, body, err := to(ctx, step)
		return code, header, bytes.ReplaceAll(body, []byte(s.URL), []byte("https://webhook")), err
	}
}

// With sends steps with a clientConfig for their webhook.
func With(config map[string]any, send story.Send) story.Send {
	return func(ctx context.Context, step story.Step) (int, http.Header, []byte, error) {
		text, err := json.Marshal(config)
		if err != nil {
			return 0, nil, nil, err
		}
		step.Body = strings.ReplaceAll(step.Body, Client, string(text))
		return send(ctx, step)
	}
}
