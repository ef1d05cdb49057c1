package webhook

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a Status says is told as it is up to a length, and cut behind it.
func TestLongMessagesAreCut(t *testing.T) {
	for n, want := range map[int]string{maxMessage: strings.Repeat("x", maxMessage), maxMessage + 1: strings.Repeat("x", maxMessage) + "..."} {
		body, err := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status"}, Status: metav1.StatusFailure, Message: strings.Repeat("x", n)})
		if err != nil {
			t.Fatal(err)
		}
		if err := statusError(500, "application/json", body); err == nil || err.Error() != want {
			t.Errorf("%d bytes are told as %d", n, len(err.Error()))
		}
	}
}

// What a configuration does not say of a service has its default.
func TestServicesOfConfigurations(t *testing.T) {
	path, port := "/p", int32(8443)
	if s := ServiceOf("ns", "n", &path, &port); *s != (Service{"ns", "n", "/p", 8443}) {
		t.Errorf("%+v", s)
	}
	if s := ServiceOf("ns", "n", nil, nil); *s != (Service{Namespace: "ns", Name: "n"}) {
		t.Errorf("%+v", s)
	}
	for s, want := range map[Service]string{{"ns", "n", "", 0}: "https://n.ns.svc:443/", {"ns", "n", "/p", 8443}: "https://n.ns.svc:8443/p"} {
		got, err := locate(Config{Service: &s})
		if err != nil || got.url.String() != want {
			t.Errorf("%+v is at %s, %v, want %s", s, got.url, err, want)
		}
	}
}
