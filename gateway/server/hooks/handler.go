package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/admission/webhook"
	"github.com/wasmgate/wasmgate/conversion/review"
	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/plugins"
)

// Where the webhooks are.
const (
	convertPath = "/convert/"
	admitPath   = "/admit/"
)

const (
	// bodies is for how many of the largest bodies there is room at a time.
	bodies = 8
	// callTimeout is how long a call may take where the caller names no time.
	callTimeout = 30 * time.Second
)

// handler answers an API server.
type handler struct {
	served   *served
	requests *metrics.Webhooks
	all      *metrics.Metrics
	health   *health.Registry
	most     int64 // the largest body, in bytes
	room     *semaphore.Weighted
	log      zerolog.Logger // not one line for every failure
}

func newHandler(s *served, w *metrics.Webhooks, all *metrics.Metrics, h *health.Registry, most int) http.Handler {
	few := s.log.Sample(&zerolog.BurstSampler{Burst: 3, Period: 10 * time.Second})
	a := &handler{log: few, served: s, requests: w, all: all, health: h, most: int64(most), room: semaphore.NewWeighted(bodies * int64(most))}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+convertPath+"{name}", a.counted("convert", a.convert))
	mux.HandleFunc("POST "+admitPath+"{name}", a.counted("admit", a.admit))
	mux.HandleFunc("GET /metrics", a.measured)
	mux.HandleFunc("GET /", a.healthy)
	return mux
}

// failure is a request that cannot be answered as it was meant.
type failure struct {
	code    int
	message string
}

func failed(code int, format string, args ...any) *failure {
	return &failure{code, fmt.Sprintf(format, args...)}
}

// counted answers with what answer makes of the body, and counts that.
func (h *handler) counted(hook string, answer func(ctx context.Context, name string, body []byte) ([]byte, *failure)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		begun, name := time.Now(), r.PathValue("name")
		reply, f := h.asked(w, r, func(ctx context.Context, body []byte) ([]byte, *failure) { return answer(ctx, name, body) })
		code := http.StatusOK
		if f != nil {
			code = f.code
			reply, _ = json.Marshal(&metav1.Status{ // of texts and a number
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
				Status:   metav1.StatusFailure, Message: excerpt.Of(f.message, review.MaxMessage), Code: int32(code),
			})
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
		w.WriteHeader(code)
		_, _ = w.Write(reply) // who is gone hears nothing
		if h.served.converter(name) == nil && !h.served.modules.Known(name) {
			name = "" // what callers invent makes no label
		}
		h.requests.Request(hook, name, code, time.Since(begun).Seconds())
	}
}

// asked reads the body, and answers in the time that the caller has.
func (h *handler) asked(w http.ResponseWriter, r *http.Request, answer func(ctx context.Context, body []byte) ([]byte, *failure)) ([]byte, *failure) {
	timeout := callTimeout
	if text := r.URL.Query().Get("timeout"); text != "" {
		t, err := time.ParseDuration(text)
		if err != nil || t <= 0 {
			return nil, failed(http.StatusBadRequest, "timeout: %.100q is no time", text)
		}
		timeout = min(t, timeout)
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, failed(http.StatusUnsupportedMediaType, "the body has to be application/json")
	}
	size := r.ContentLength
	if size < 0 {
		size = h.most
	}
	if size > h.most {
		return nil, failed(http.StatusRequestEntityTooLarge, "the body has %d bytes, more than %d (--max-request-body)", size, h.most)
	}
	if err := h.room.Acquire(ctx, size); err != nil {
		return nil, failed(http.StatusServiceUnavailable, "there was no room for the body: other requests take it")
	}
	defer h.room.Release(size)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.most))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, failed(http.StatusRequestEntityTooLarge, "the body has more than %d bytes (--max-request-body)", h.most)
		}
		return nil, failed(http.StatusBadRequest, "the body ended early: %v", err)
	}
	return answer(ctx, body)
}

// convert answers a ConversionReview. What cannot be converted is an answer, too.
func (h *handler) convert(ctx context.Context, name string, body []byte) ([]byte, *failure) {
	converter := h.served.converter(name)
	if converter == nil {
		return nil, failed(http.StatusNotFound, "nothing that converts is served under %.100q", name)
	}
	r, err := review.ParseRequest(body)
	if err != nil {
		return nil, failed(http.StatusBadRequest, "%v", err)
	}
	converted, err := converter.Convert(ctx, r.Desired, r.Objects)
	var verdict *review.Failure
	switch {
	case errors.As(err, &verdict): // the caller adds the rest
		return review.AppendFailed(nil, r, verdict.Error()), nil
	case err != nil:
		return review.AppendFailed(nil, r, err.Error()), nil
	}
	return review.AppendConverted(make([]byte, 0, review.RequestSize(converted)), r, converted), nil
}

// admit answers an AdmissionReview. A module that fails is a server that fails: what then
// becomes of the write is decided by the failurePolicy.
func (h *handler) admit(ctx context.Context, name string, body []byte) (answer []byte, _ *failure) {
	if !h.served.has(name, plugins.Admit) {
		return nil, failed(http.StatusNotFound, "nothing that admits is served under %.100q", name)
	}
	version, uid, err := webhook.Asked(body)
	if err != nil {
		return nil, failed(http.StatusBadRequest, "%v", err)
	}
	_, err = h.served.modules.Admit(nil)(ctx, name, body, func(reply []byte) error {
		answer = reply
		return webhook.Answered(reply, version, uid)
	})
	if err != nil {
		h.log.Warn().Str("module", name).Err(err).Msg("admission failed")
		return nil, failed(http.StatusInternalServerError, "%v", err)
	}
	return answer, nil
}

func (h *handler) measured(w http.ResponseWriter, _ *http.Request) {
	text, err := h.all.Render()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	_, _ = w.Write(text)
}

func (h *handler) healthy(w http.ResponseWriter, r *http.Request) {
	_, verbose := r.URL.Query()["verbose"]
	code, text, ok := h.health.Serve(r.Context(), r.URL.Path, verbose, r.URL.Query()["exclude"])
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}
