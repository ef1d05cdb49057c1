package options

import (
	"crypto/tls"
	"slices"
	"strings"
	"testing"
)

func TestTLSFlags(t *testing.T) {
	for _, c := range []struct {
		given TLS
		want  string // of the refusal; none for none
	}{
		{TLS{}, ""},
		{TLS{MinVersion: "VersionTLS13", CipherSuites: CipherSuites(), StrictTransport: []string{"max-age=31536000", "includeSubDomains", "preload"}}, ""},
		{TLS{CipherSuites: []string{"TLS_RSA_WITH_AES_128_CBC_SHA"}}, ""}, // which is not safe, and asked for
		{TLS{MinVersion: "VersionTLS11"}, `--tls-min-version: must be one of VersionTLS12, VersionTLS13, got "VersionTLS11"`},
		{TLS{CipherSuites: []string{"TLS_X"}}, `--tls-cipher-suites: "TLS_X" is not known; there are TLS_ECDHE_`},
		{TLS{StrictTransport: []string{"max-age=x"}}, `--strict-transport-security-directives: takes max-age=SECONDS, includeSubDomains and preload, got "max-age=x"`},
		{TLS{StrictTransport: []string{""}}, `got ""`},
	} {
		o := Default()
		o.TLS = c.given
		err := o.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.given, err)
		}
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	TLS{}.Apply(conf)
	if conf.MinVersion != tls.VersionTLS12 || conf.CipherSuites != nil {
		t.Errorf("by default %x %v", conf.MinVersion, conf.CipherSuites)
	}
	TLS{MinVersion: "VersionTLS13", CipherSuites: []string{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}}.Apply(conf)
	if conf.MinVersion != tls.VersionTLS13 || !slices.Equal(conf.CipherSuites, []uint16{tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384}) {
		t.Errorf("as asked for %x %v", conf.MinVersion, conf.CipherSuites)
	}
	if got := (TLS{StrictTransport: []string{"max-age=1", "preload"}}).StrictTransportSecurity(); got != "max-age=1; preload" {
		t.Errorf("the header is %q", got)
	}
}
