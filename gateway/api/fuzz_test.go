package api

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Any query is read, or refused as the client's mistake.
func FuzzOptions(f *testing.F) {
	for _, q := range []string{
		"", "watch=1&allowWatchBookmarks=true&timeoutSeconds=5", "limit=500&continue=abc&resourceVersion=0", "labelSelector=a%3Db,c!%3Dd&fieldSelector=metadata.name%3Dx",
		"timeout=5s", "timeout=x", "dryRun=All&fieldValidation=Strict&fieldManager=me", "limit=%zz", "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
		"gracePeriodSeconds=0&propagationPolicy=Foreground", "limit=99999999999999999999", "a;b",
	} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		p := parseParams(raw)
		if d, err := p.timeout(time.Minute); err == nil && (d <= 0 || d > time.Minute) {
			t.Errorf("a timeout of %s", d)
		} else {
			clientsMistake(t, err)
		}
		v, err := p.all()
		if clientsMistake(t, err) {
			return
		}
		o, err := listOptions(v, p.watch(), true)
		if !clientsMistake(t, err) && (o.Limit < 0 || o.Watch != p.watch()) {
			t.Errorf("%+v", o)
		}
		var w warnings
		_, err = writeOptions(v, "CreateOptions", false, &w)
		clientsMistake(t, err)
		_, _, err = deleteOptions(&Request{}, v)
		clientsMistake(t, err)
	})
}

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
	for media, body := range map[string]string{
		mediaJSON:               `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background","preconditions":{"uid":"x"},"dryRun":["All"]}`,
		mediaYAML:               "gracePeriodSeconds: 5\norphanDependents: true\n",
		mediaProtobuf:           "k8s\x00\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions\x12" + string(rune(len(raw))) + string(raw),
		"text/plain":            "x",
		";":                     "",
		"application/json; x=y": "[1]",
	} {
		f.Add(media, body)
	}
	f.Fuzz(func(t *testing.T, media, body string) {
		if len(body) > 64<<10 {
			return
		}
		o, w, err := deleteOptions(&Request{ContentType: media, Body: []byte(body)}, nil)
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
