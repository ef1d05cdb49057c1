package module_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// What is signed of an image is kept where there is something, and not too much.
func TestWhatIsKeptBesideAnImage(t *testing.T) {
	signed := []signature.Signature{{}}
	if module.NewBeside([]byte("m"), nil) != nil || module.NewBeside([]byte(strings.Repeat("m", 16<<10+1)), signed) != nil {
		t.Error("kept without signatures, or too much")
	}
	b := module.NewBeside([]byte(strings.Repeat("m", 16<<10)), signed)
	if b == nil || len(b.Signatures) != 1 {
		t.Fatal("the most that may be kept is not")
	}
	b = module.NewBeside([]byte(`{"layers":[{"digest":"sha256:1"},{"digest":"sha256:2"}]}`), signed)
	if !b.Names("sha256:1") || !b.Names("sha256:2") || b.Names("sha256:3") || (&module.Beside{Manifest: "?"}).Names("sha256:1") {
		t.Error("a manifest names what it does not")
	}
	if got := (&module.Beside{}).Digest(); got != "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error(got)
	}
}

// Of several images the newest ones are remembered, each once.
func TestWhichImagesAreRemembered(t *testing.T) {
	of := func(names string) (all []module.Beside) {
		for _, n := range strings.Fields(names) {
			all = append(all, module.Beside{Manifest: n})
		}
		return all
	}
	for _, c := range []struct{ now, earlier, want string }{
		{"", "a b", "a b"}, {"a", "", "a"}, {"a", "b", "a b"}, {"a", "b a c", "a b c"}, {"a", "b c d", "a b c"}, {"a", "b c", "a b c"},
	} {
		var b *module.Beside
		if c.now != "" {
			b = &module.Beside{Manifest: c.now}
		}
		if got, want := fmt.Sprint(b.Remembering(of(c.earlier))), fmt.Sprint(of(c.want)); got != want {
			t.Errorf("%s after %s: %s, want %s", c.now, c.earlier, got, want)
		}
	}
	// What serves is remembered however many come that do not take over.
	image := func(digest string) module.Beside {
		return module.Beside{Manifest: `{"layers":[{"digest":"` + digest + `"}]}`}
	}
	all := []module.Beside{image("one")}
	for _, digest := range []string{"two", "three", "four", "five"} {
		now := image(digest)
		all = now.Remembering(all, "", "one")
		if len(all) > 3 || !all[0].Names(digest) || !slices.ContainsFunc(all, func(b module.Beside) bool { return b.Names("one") }) {
			t.Errorf("after %s: %v", digest, all)
		}
	}
}
