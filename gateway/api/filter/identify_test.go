package filter

import "testing"

func TestBearerToken(t *testing.T) {
	for header, want := range map[string]string{
		"": "", "Bearer": "", "Bearer ": "", "Bearer x": "x", "bearer x": "x", "BEARER  x ": "x", "Basic x": "", "Bearerx": "", "x": "",
	} {
		if got := bearerToken(header); got != want {
			t.Errorf("%q: %q", header, got)
		}
	}
}
