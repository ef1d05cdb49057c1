package review

import (
	"bytes"
	"strings"
	"testing"
)

var asked = [][]byte{[]byte(`{"kind":"A","n":12345678901234567890}`), []byte(`{"kind":"B"}`)}

// What is asked on one side arrives on the other, and so does the reply.
func TestRequestsAndRepliesArrive(t *testing.T) {
	for _, version := range []string{V1, V1beta1} {
		r, err := ParseRequest(AppendRequest(nil, version, `u"1`, "example.com/v2", asked))
		if err != nil || r.Version != version || r.UID != `u"1` || r.Desired != "example.com/v2" || len(r.Objects) != 2 || !bytes.Equal(r.Objects[0], asked[0]) {
			t.Fatalf("%+v, %v", r, err)
		}
		converted, err := ParseResponse(AppendConverted(nil, r, asked), version, r.UID)
		if err != nil || len(converted) != 2 || !bytes.Equal(converted[1], asked[1]) {
			t.Errorf("%q, %v", converted, err)
		}
		if _, err = ParseResponse(AppendFailed(nil, r, `no "host"`), version, r.UID); err == nil || err.Error() != `no "host"` {
			t.Errorf("a failure is told as %v", err)
		}
	}
}

func TestRequestsThatAreNone(t *testing.T) {
	for body, want := range map[string]string{
		``:     "json parse error",
		`[]`:   "expected an object",
		`{} x`: "after top-level value",
		`{"apiVersion":"apiextensions.k8s.io/v2","kind":"ConversionReview","request":{}}`:                                                "expected a ConversionReview of apiextensions.k8s.io/v1, got apiextensions.k8s.io/v2",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"Pod","request":{}}`:                                                             "Kind=Pod",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":null}`:                                              "no request",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1"}}`:                                       "request.desiredAPIVersion is empty",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":1}}`:                                         "request.uid is not a string",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"desiredAPIVersion":"a/v1","objects":{}}}`:         "request.objects is not an array",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"desiredAPIVersion":"a/v1","objects":[{"a":tru}]}`: "json parse error",
	} {
		if r, err := ParseRequest([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", body, r, err)
		}
	}
}

// A request that is read is written as it was meant, whatever it is.
func FuzzParseRequest(f *testing.F) {
	f.Add(AppendRequest(nil, V1, "u", "example.com/v2", asked))
	f.Add([]byte(`{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"ConversionReview","request":{"desiredAPIVersion":"\u0061/v1","objects":[ 1 , {} ]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := ParseRequest(body)
		if err != nil {
			return
		}
		again, err := ParseRequest(AppendRequest(nil, r.Version, r.UID, r.Desired, r.Objects))
		if err != nil || again.Desired != r.Desired || len(again.Objects) != len(r.Objects) {
			t.Errorf("%q is read as %+v, then as %+v, %v", body, r, again, err)
		}
	})
}
