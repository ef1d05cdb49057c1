package bootstraptoken

import (
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// Tokens are believed where the options say so and there are Secrets.
func TestWhereTokensAreBelieved(t *testing.T) {
	for what, c := range map[string]struct{ said, served, want bool }{
		"said": {true, true, true}, "not said": {false, true, false}, "without Secrets": {true, false, false},
	} {
		o := options.Default()
		o.Authentication.BootstrapTokens = c.said
		config := kinds.Config{Options: o}
		if c.served {
			config.Definitions = []*crd.Definition{{Plural: "secrets"}}
		}
		if got := Kind(config).Serve != nil; got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
