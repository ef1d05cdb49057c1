package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/server/offline"
)

// A private key may be encrypted, by the password that cosign would take from the
// environment. The public key needs none, nor does a key that is not encrypted.
func TestPasswordsOfKeys(t *testing.T) {
	b := &bench{Signing: offline.Tools{}}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.wasm"), []byte("\x00asm\x01\x00\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(passwordVariable, "x")
	unset := func() {
		if err := os.Unsetenv(passwordVariable); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		password, args string // "-" for none
		exit           int
		want           string
	}{
		{"-", "keygen @none --encrypt", 2, "it needs a password: set COSIGN_PASSWORD, or call this on a terminal"},
		{"open", "keygen @a --encrypt", 0, "a.key and"},
		{"-", "sign @m.wasm --key @a.key -o @s.wasm", 2, "a.key: it needs a password: set COSIGN_PASSWORD"},
		{"wrong", "sign @m.wasm --key @a.key -o @s.wasm", 2, "a.key: it cannot be decrypted by this password"},
		{"", "sign @m.wasm --key @a.key -o @s.wasm", 2, "a.key: it cannot be decrypted by this password"},
		{"open", "sign @m.wasm --key @a.key -o @s.wasm", 0, "s.wasm signed"},
		{"-", "verify @s.wasm --key @a.pub", 0, "is signed by the key"},
		{"", "keygen @empty --encrypt", 0, "empty.key and"},
		{"", "sign @m.wasm --key @empty.key -o @s.wasm", 0, "s.wasm signed"},
		{"wrong", "keygen @b", 0, "b.key and"},
		{"-", "sign @m.wasm --key @b.key -o @s.wasm", 0, "s.wasm signed"},
	} {
		if err := os.Setenv(passwordVariable, c.password); err != nil {
			t.Fatal(err)
		}
		if c.password == "-" {
			unset()
		}
		out, exit, err := b.run(t, append([]string{"module"}, strings.Fields(strings.ReplaceAll(c.args, "@", dir+"/"))...)...)
		if err != nil {
			out += err.Error()
		}
		if exit != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("%s: %d, %s", c.args, exit, out)
		}
	}
	for file, want := range map[string]bool{"a.key": true, "empty.key": true, "b.key": false, "none.key": false} {
		text, _ := os.ReadFile(filepath.Join(dir, file))
		if got := bytes.HasPrefix(text, []byte("-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----")); got != want {
			t.Errorf("%s is encrypted: %v", file, got)
		}
	}
}
