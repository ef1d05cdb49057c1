package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

var errPanic = errors.New("this request caused apiserver to panic. Look in the logs for details")

// errorResponse makes a Status reply of an error. What is no status error is
// an internal one, worded as kube-apiserver does.
func errorResponse(err error) *Response {
	var api apierrors.APIStatus
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	if errors.As(err, &api) {
		status = api.Status()
	}
	if status.Code == 0 {
		status.Code = http.StatusInternalServerError
	}
	resp := statusResponse(status)
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		resp.Headers = append(resp.Headers, Header{"Retry-After", strconv.Itoa(int(d.RetryAfterSeconds))})
	}
	if status.Code == http.StatusUnauthorized {
		resp.Headers = append(resp.Headers, Header{"Www-Authenticate", `Bearer realm="wasmgate"`})
	}
	return resp
}

func statusResponse(s metav1.Status) *Response {
	return &Response{Code: int(s.Code), ContentType: mediaJSON, Body: statusJSON(s)}
}

func statusJSON(s metav1.Status) []byte {
	s.Kind, s.APIVersion = "Status", "v1"
	b, err := json.Marshal(s)
	if err != nil { // a Status has no value that JSON cannot hold
		return []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":500}`)
	}
	return append(b, '\n')
}

// inForm turns a Status into YAML for a client that asked for YAML.
func inForm(r *Request, resp *Response) {
	if resp.Code < http.StatusBadRequest || resp.ContentType != mediaJSON || !strings.Contains(r.Accept, mediaYAML) {
		return
	}
	if f, err := negotiate(r.Accept); err == nil && f.media == mediaYAML {
		if out, err := yaml.JSONToYAML(resp.Body); err == nil {
			resp.Body, resp.ContentType = out, mediaYAML
		}
	}
}

// notFound is kube-apiserver's answer for a path that addresses nothing.
func notFound() *Response {
	return &Response{Code: http.StatusNotFound, ContentType: "text/plain; charset=utf-8", Body: []byte("404 page not found\n")}
}

// NotAcceptable is the reply when a document has no form that the client
// accepts.
func NotAcceptable() *Response { return errorResponse(notAcceptable()) }

func methodNotAllowed(r *resource.Resource, verb string) *Response {
	return errorResponse(apierrors.NewMethodNotSupported(r.GroupResource(), verb))
}

// maxWarning bounds one warning text, maxWarnings their total, as in
// kube-apiserver.
const (
	maxWarning  = 256
	maxWarnings = 4 * 1024
)

func warningHeader(text string) Header {
	if len(text) > maxWarning {
		text = text[:maxWarning]
	}
	var b strings.Builder
	b.WriteString(`299 - "`)
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c < ' ' || c == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return Header{"Warning", b.String()}
}

// warnings collects the warnings of one request, each once.
type warnings struct {
	seen map[string]bool
	size int
	list []Header
}

func (w *warnings) add(text string) {
	if text == "" || w.seen[text] || w.size > maxWarnings {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[text] = true
	w.size += len(text)
	w.list = append(w.list, warningHeader(text))
}
