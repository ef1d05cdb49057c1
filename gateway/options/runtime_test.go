package options

import (
	"maps"
	"testing"
)

// What --runtime-config says is kube-apiserver's: a name alone is true, of two settings
// the second counts, and no API at all is no way to run a server.
func TestRuntimeConfigIsRead(t *testing.T) {
	for _, c := range []struct {
		settings []string
		want     map[string]bool
		err      string
	}{
		{[]string{"apps/v1=false", "batch/v1", "v1="}, map[string]bool{"apps/v1": false, "batch/v1": true, "v1": true}, ""},
		{[]string{"apps/v1=false", "apps/v1=true"}, map[string]bool{"apps/v1": true}, ""},
		{[]string{"api/all=false", "v1=true"}, map[string]bool{"api/all": false, "v1": true}, ""},
		{[]string{"apps/v1=maybe"}, nil, "invalid value of apps/v1: maybe, it is true or false"},
		{[]string{"api/all=false"}, nil, "invalid runtime-config with only api/all=false"},
		{nil, map[string]bool{}, ""},
	} {
		got, err := Serve{RuntimeConfig: c.settings}.Runtime()
		if !maps.Equal(got, c.want) || (err != nil || c.err != "") && (err == nil || err.Error() != c.err) {
			t.Errorf("%q: %v, %v", c.settings, got, err)
		}
	}
}
