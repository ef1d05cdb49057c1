package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/wasmgate/wasmgate/lifecycle"
)

// A deprecated flag still works, and warns.
func TestDeprecatedFlags_VER14_VER15(t *testing.T) {
	lives := map[string]lifecycle.Life{
		"old": {Stability: lifecycle.Stable, Introduced: lifecycle.Oldest, Deprecated: lifecycle.Current, Replacement: "new"}, "other": {},
	}
	try := func(now lifecycle.Release) (said, usage, value string) {
		var out bytes.Buffer
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SetOutput(&out)
		flags.StringVar(&value, "old", "", "what it is")
		outdate(flags, lives, now)
		if err := flags.Parse([]string{"--old=x"}); err != nil {
			t.Fatal(err)
		}
		return out.String(), flags.FlagUsages(), value
	}
	said, usage, value := try(lifecycle.Current)
	if value != "x" || said != "Flag --old has been deprecated, from 1.36; it still works, use --new\n" {
		t.Errorf("%q says %q", value, said)
	}
	if !strings.Contains(usage, "what it is (DEPRECATED: from 1.36; it still works, use --new)") {
		t.Error(usage)
	}
	if said, usage, value := try(lifecycle.Current.Plus(-1)); value != "x" || said != "" || strings.Contains(usage, "DEPRECATED") {
		t.Errorf("before: %q, %q", said, usage)
	}
}

// Flags whose life is told are there, under their own name.
func TestLivesAreOfFlags_VER14(t *testing.T) {
	for name, life := range lifecycle.Flags {
		if f := newServe(nil).Flags().Lookup(name); (f != nil) != life.Exists(lifecycle.Current) {
			t.Errorf("--%s is there, or it is not", name)
		}
	}
}
