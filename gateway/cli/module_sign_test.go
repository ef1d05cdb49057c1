package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/server/offline"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless/keylesstest"
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
		{"sign @m.wasm --key @a.key -o @m.wasm/below", 1, "not a directory"},
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

// A bundle goes into the module that it is of, and who made it is told by the roots that are
// named.
func TestABundleIsCarriedAndVerified(t *testing.T) {
	b, s, dir := &bench{Signing: offline.Tools{}}, keylesstest.New(t), t.TempDir()
	content := []byte("\x00asm\x01\x00\x00\x00")
	for name, text := range map[string]string{
		"m.wasm": string(content), "m.json": s.JSON(s.Blob(content)), "other.json": s.JSON(s.Blob([]byte("x"))), "no.json": "{}",
		"certificates": s.Certificates(), "logs": s.Logs(), "root.json": s.TrustedRoot(), "others": keylesstest.New(t).TrustedRoot(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	who := " --issuer " + keylesstest.Issuer + " --subject " + keylesstest.Subject
	for _, c := range []struct {
		args string
		exit int
		want string
	}{
		{"sign @m.wasm --bundle @other.json", 2, "SignatureOfOtherContent"},
		{"sign @m.wasm --bundle @no.json", 2, "SignatureBundleInvalid"},
		{"sign @m.wasm --bundle @m.json --for m", 2, "--for is of no use"},
		{"sign @m.wasm --bundle @m.json --key @m.json", 2, "not both"},
		{"verify @m.wasm --trusted-root @root.json" + who, 1, "Unsigned"},
		{"sign @m.wasm --bundle @m.json", 0, "m.wasm signed: sha256:"},
		{"sign @m.wasm --bundle @m.json", 0, "m.wasm signed: sha256:"},
		{"verify @m.wasm --trusted-root @root.json" + who, 0, "m.wasm is signed by " + keylesstest.Subject + ": sha256:"},
		{"verify @m.wasm -o json --certificates @certificates --logs @logs" + who, 0, `"signatures": 1`},
		{"verify @m.wasm --trusted-root @others" + who, 1, "SignatureUntrusted"},
		{"verify @m.wasm --trusted-root @root.json" + who + "x", 1, "SignatureOfOtherIdentity"},
		{"verify @m.wasm --trusted-root @no.json" + who, 2, "unsupported TrustedRoot media type"},
		{"verify @m.wasm --trusted-root @none.json" + who, 2, "no such file"},
		{"verify @m.wasm --trusted-root @root.json --issuer a", 2, "--issuer and --subject must be set together"},
		{"verify @m.wasm --certificates @certificates" + who, 2, "either --trusted-root, or --certificates and --logs"},
		{"verify @m.wasm" + who, 2, "either --trusted-root, or --certificates and --logs"},
		{"verify @m.wasm --key @logs" + who, 2, "not both"},
	} {
		out, exit, err := b.run(t, append([]string{"module"}, strings.Fields(strings.ReplaceAll(c.args, " @", " "+dir+"/"))...)...)
		if err != nil {
			out += err.Error()
		}
		if exit != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("%s: %d, %s", c.args, exit, out)
		}
	}
}
