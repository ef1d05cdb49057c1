package api

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/api/body"
	"github.com/wasmgate/wasmgate/gateway/api/query"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// clientsMistake tells whether there is an error, which has to be one that a
// client can understand.
func clientsMistake(t *testing.T, err error) bool {
	t.Helper()
	var s apierrors.APIStatus
	if err != nil && (!errors.As(err, &s) || s.Status().Code < 400 || s.Status().Code > 499) {
		t.Errorf("%v", err)
	}
	return err != nil
}

// Any body of a deletion is read, or refused as the client's mistake.
func FuzzDeleteOptions(f *testing.F) {
	options := metav1.DeleteOptions{DryRun: []string{"All"}}
	raw, err := options.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	for media, text := range map[string]string{
		encoding.TypeJSON:       `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background","preconditions":{"uid":"x"},"dryRun":["All"]}`,
		encoding.TypeYAML:       "gracePeriodSeconds: 5\norphanDependents: true\n",
		encoding.TypeProtobuf:   "k8s\x00\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions\x12" + string(rune(len(raw))) + string(raw),
		"text/plain":            "x",
		";":                     "",
		"application/json; x=y": "[1]",
	} {
		f.Add(media, text)
	}
	f.Fuzz(func(t *testing.T, media, text string) {
		if len(text) > 64<<10 {
			return
		}
		o, w, err := body.Body{ContentType: media, Data: []byte(text)}.DeleteOptions(query.Parameters{})
		if !clientsMistake(t, err) && (o == nil || w.DryRun && len(o.DryRun) == 0) {
			t.Errorf("%+v %+v", o, w)
		}
	})
}

// Whatever a warning says, it is one header field.
func FuzzWarning(f *testing.F) {
	for _, text := range []string{`unknown field "a"`, "two\r\nlines", "\x00\x7f\u0085\u2028", `back\slash`, "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var w warnings
		for range 3 { // each is told once
			w.add(text)
			w.add(text + text)
		}
		headers := w.headers()
		if len(headers) > 2 || text == "" && len(headers) > 0 {
			t.Errorf("%d headers", len(headers))
		}
		for _, h := range headers {
			inner, ok := strings.CutPrefix(h.Value, `299 - "`)
			if !ok || !strings.HasSuffix(inner, `"`) || strings.ContainsFunc(h.Value, unicode.IsControl) {
				t.Errorf("%q", h.Value)
			}
		}
	})
}
