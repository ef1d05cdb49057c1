package host

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// Where to see what a module wrote is told of those that serve, and of no others.
func TestWhereAModulesLinesAreTold(t *testing.T) {
	for name, want := range map[string]string{"tabs": "; what it wrote is told by: wasmgate module logs tabs", "tabs@proof": "", "tabs@binding": ""} {
		if got := hint(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestNamesOfImagesAreChecked(t *testing.T) {
	for name, good := range map[string]bool{"registry.example.com/team/tabs:v1": true, "": false, "no name": false, "registry.example.com/UPPER:v1": false} {
		err := CheckImage(name)
		if (err == nil) != good || err != nil && err.Error() == "" {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// compiles is a compiler that fails, or does not.
type compiles struct {
	wasm.Compiler
	err error
}

func (c compiles) Compile(context.Context, []byte, string) error { return c.err }

// What a compiler does is logged, and what comes of it is passed on; without one there is none.
func TestCompilingIsLogged(t *testing.T) {
	if got := logged(nil, zerolog.Nop()); got != nil {
		t.Errorf("%v", got)
	}
	broken := errors.New("it breaks")
	for _, err := range []error{nil, broken} {
		var lines strings.Builder
		if got := logged(compiles{err: err}, zerolog.New(&lines)).Compile(t.Context(), []byte("abc"), ""); !errors.Is(got, err) {
			t.Error(got)
		}
		if text := lines.String(); !strings.Contains(text, `"bytes":3`) || strings.Contains(text, "it breaks") != (err != nil) {
			t.Error(text)
		}
	}
}
