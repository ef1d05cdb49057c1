package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/server/offline"
)

// A module is signed and verified by files alone; the statuses tell what was found.
func TestAModuleIsSignedAndVerified(t *testing.T) {
	b := &bench{Signing: offline.Tools{}}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("m.wasm"), []byte("\x00asm\x01\x00\x00\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		exit int
		want string
	}{
		{"keygen @a", 0, "a.key and"},
		{"keygen @b", 0, ""},
		{"keygen @a", 1, "file exists"},
		{"verify @m.wasm --key @a.pub", 1, "Unsigned: it carries no signature"},
		{"sign @m.wasm", 2, "--key is missing"},
		{"sign @m.wasm --key @a.pub", 2, "not a PRIVATE KEY"},
		{"sign @a.key --key @a.key", 2, "no WebAssembly module"},
		{"sign @m.wasm --key @a.key -o @s.wasm", 0, "s.wasm signed: sha256:"},
		{"sign @s.wasm --key @a.key", 0, "s.wasm signed: sha256:"},
		{"verify @s.wasm --key @a.pub", 0, "is signed by the key "},
		{"verify @s.wasm --key @a.pub -o json", 0, `"signatures": 1`},
		{"verify @s.wasm --key @b.pub", 1, "SignatureUntrusted"},
		{"verify @s.wasm --key @a.key", 2, "not a PUBLIC KEY"},
		{"verify @s.wasm", 2, "--key is missing"},
		{"verify @none.wasm --key @a.pub", 2, "no such file"},
		{"sign @s.wasm --key @b.key --for crontab", 0, ""},
		{"verify @s.wasm --key @a.pub", 0, ""},
		{"verify @s.wasm --key @b.pub", 1, `SignatureForOtherModule: the signature is for the module "crontab", not ""`},
		{"verify @s.wasm --key @b.pub --for crontab", 0, ""},
		{"verify @s.wasm --key @b.pub --for crontab -o yaml", 0, "signatures: 2"},
	} {
		out, exit, err := b.run(t, append([]string{"module"}, strings.Fields(strings.ReplaceAll(c.args, "@", dir+"/"))...)...)
		if err != nil {
			out += err.Error()
		}
		if exit != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("%s: %d, %s", c.args, exit, out)
		}
	}
	if info, err := os.Stat(at("a.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	before, _ := os.ReadFile(at("m.wasm"))
	after, _ := os.ReadFile(at("s.wasm"))
	if !bytes.HasPrefix(after, before) || len(after) == len(before) {
		t.Error("the module itself changed")
	}
	if out, _, err := b.run(t, "module", "sign", at("m.wasm"), "--key", at("a.key"), "-o", at("s.wasm")); err != nil || strings.Contains(out, "Error") {
		t.Error(out, err)
	}
}
