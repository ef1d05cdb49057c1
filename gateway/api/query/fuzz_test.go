package query

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
		p := Parse(raw)
		if d, err := p.Timeout(time.Minute); err == nil && (d <= 0 || d > time.Minute) {
			t.Errorf("a timeout of %s", d)
		} else {
			clientsMistake(t, err)
		}
		_, err := p.Values()
		if clientsMistake(t, err) {
			return
		}
		o, err := p.List(p.Watch(), true)
		if !clientsMistake(t, err) && (o.Limit < 0 || o.Watch != p.Watch()) {
			t.Errorf("%+v", o)
		}
		_, err = p.Write("CreateOptions", false)
		clientsMistake(t, err)
		_, err = p.Delete()
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
