package options

import (
	"crypto/tls"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestFlagsAboutClients(t *testing.T) {
	for want, set := range map[string]func(*Serve){
		"": func(s *Serve) {
			s.Clients.AllowedOrigins, s.Clients.GoawayChance = []string{`//example\.com(:|$)`, `^https://example\.com$`}, 0.02
			s.TLS.Curves, s.TLS.Named = []int32{29, 23}, []string{"c,k", "c , k : A.example , ::1"}
		},
		`--cors-allowed-origins: "": must not be empty`:            func(s *Serve) { s.Clients.AllowedOrigins = []string{""} },
		`--cors-allowed-origins: "//(": invalid regular`:           func(s *Serve) { s.Clients.AllowedOrigins = []string{"//("} },
		`"example.com$": it has to have ^ or //`:                   func(s *Serve) { s.Clients.AllowedOrigins = []string{"example.com$"} },
		`"//example.com": it has to have`:                          func(s *Serve) { s.Clients.AllowedOrigins = []string{"//example.com"} },
		"--goaway-chance: must be from 0 to 0.02, got 0.03":        func(s *Serve) { s.Clients.GoawayChance = 0.03 },
		"--goaway-chance: must be from 0 to 0.02, got -1":          func(s *Serve) { s.Clients.GoawayChance = -1 },
		"--goaway-chance: must be from 0 to 0.02, got NaN":         func(s *Serve) { s.Clients.GoawayChance = math.NaN() },
		"--tls-curve-preferences: 0 is out of range (must be 1-":   func(s *Serve) { s.TLS.Curves = []int32{0} },
		"--tls-curve-preferences: 65536 is out of range":           func(s *Serve) { s.TLS.Curves = []int32{65536} },
		"--tls-curve-preferences: 29 is there twice":               func(s *Serve) { s.TLS.Curves = []int32{29, 23, 29} },
		"--tls-curve-preferences: 65535 is not known":              func(s *Serve) { s.TLS.Curves = []int32{65535} },
		"--tls-curve-preferences: 7 is not known":                  func(s *Serve) { s.TLS.Curves = []int32{7} },
		`--tls-sni-cert-key: expected comma separated certificate`: func(s *Serve) { s.TLS.Named = []string{"c"} },
		`key file paths, got "c,k,x"`:                              func(s *Serve) { s.TLS.Named = []string{"c,k,x"} },
		`key file paths, got ",k:a"`:                               func(s *Serve) { s.TLS.Named = []string{",k:a"} },
		`empty names are not allowed, got "c,k:a,"`:                func(s *Serve) { s.TLS.Named = []string{"c,k:a,"} },
	} {
		o := Default()
		set(&o)
		err := o.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if want != "" {
			continue
		}
		all, err := o.TLS.ServerNames()
		if got := fmt.Sprint(all); err != nil || got != "[{c k []} {c k [a.example ::1]}]" {
			t.Errorf("%s, %v", got, err)
		}
		c := &tls.Config{}
		o.TLS.Apply(c)
		if fmt.Sprint(c.CurvePreferences) != "[X25519 CurveP256]" || len(o.Clients.Origins()) != 2 {
			t.Errorf("%v, %v", c.CurvePreferences, o.Clients.Origins())
		}
	}
}
