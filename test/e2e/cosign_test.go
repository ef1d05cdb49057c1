package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/test/harness"
)

// cosigned is a folder in which the program cosign and ours run.
type cosigned struct {
	*testing.T
	cosign, dir string
}

// withCosign skips a test unless the environment names a cosign: to build it takes longer than
// all other tests.
func withCosign(t *testing.T) cosigned {
	t.Helper()
	program := os.Getenv("WASMGATE_COSIGN")
	if program == "" {
		t.Skip("WASMGATE_COSIGN is not set; it names a cosign, as docs/trust.md has it")
	}
	return cosigned{t, program, t.TempDir()}
}

func (c cosigned) run(program string, args ...string) string {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), program, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "COSIGN_PASSWORD=example", "HOME="+c.dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// offline has cosign sign or state something without asking any server of Sigstore's.
func (c cosigned) offline(command string, args ...string) {
	c.Helper()
	c.run(c.cosign, append([]string{command, "--yes", "--use-signing-config=false", "--tlog-upload=false"}, args...)...)
}

func (c cosigned) gate(args ...string) string {
	c.Helper()
	return c.run(harness.Binary(c.T), args...)
}

func (c cosigned) write(name string, content []byte) string {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
		c.Fatal(err)
	}
	return name
}

func (c cosigned) read(name string) []byte {
	c.Helper()
	content, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.Fatal(err)
	}
	return content
}

// policy is a ModuleTrust of a key, with more about its authority.
func (c cosigned) policy(name, key, more string) string {
	c.Helper()
	text, err := json.Marshal(string(c.read(key)))
	if err != nil {
		c.Fatal(err)
	}
	return `{"apiVersion":"wasmgate.dev/v1","kind":"ModuleTrust","metadata":{"name":"` + name + `"},"spec":{"modules":{"names":["` + name + `"]},"authorities":[{"name":"release","key":` +
		string(text) + more + `}]}}`
}

// TestCosign has cosign itself sign modules and state where they come from, with a key of its
// own and one of ours, and a gateway take what it made.
func TestCosign(t *testing.T) {
	harness.SkipExternal(t)
	c := withCosign(t)
	module := plugintest.Build(t, plugintest.CronTab)
	c.run(c.cosign, "generate-key-pair")
	c.gate("module", "keygen", "ours", "--encrypt")
	for _, key := range []string{"cosign", "ours"} {
		c.write("bundled.wasm", module)
		c.write("signed.wasm", module)
		c.offline("sign-blob", "--key", key+".key", "--new-bundle-format", "--bundle", key+".json", c.write("plain.wasm", module))
		c.gate("module", "sign", "bundled.wasm", "--bundle", key+".json")
		c.gate("module", "sign", "signed.wasm", "--key", key+".key")
		for _, file := range []string{"bundled.wasm", "signed.wasm"} {
			c.gate("module", "verify", file, "--key", key+".pub")
		}
	}
	c.run(c.cosign, "verify-blob", "--key", "ours.pub", "--insecure-ignore-tlog", "--new-bundle-format", "--bundle", "ours.json", "plain.wasm")

	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	api.Post(trusts, c.policy("tabs", "cosign.pub", `,"provenance":{"builders":["https://ci.example.com/*"]}`)).Want(201)
	newModule(t, api, "tabs")
	c.write("stated.wasm", module)
	c.gate("module", "sign", "stated.wasm", "--bundle", "cosign.json")
	content(api, "tabs", c.read("stated.wasm")).WantStatus(422, "Invalid", "ProvenanceMissing")
	predicate := `{"buildDefinition":{"buildType":"https://ci.example.com/build","externalParameters":{},"internalParameters":{}},"runDetails":{"builder":{"id":"https://ci.example.com/one"}}}`
	c.offline("attest-blob", "--key", "cosign.key", "--new-bundle-format", "--type", "slsaprovenance1", "--predicate", c.write("predicate.json", []byte(predicate)), "--bundle", "stated.json", "plain.wasm")
	c.gate("module", "sign", "stated.wasm", "--bundle", "stated.json")
	content(api, "tabs", c.read("stated.wasm")).Want(200)
	awaitTrusted(api, "tabs", "True", "Signed", "True")
}

// TestCosignOfImages has cosign itself sign an image in a registry, in its older form and in
// its newer one.
func TestCosignOfImages(t *testing.T) {
	harness.SkipExternal(t)
	c := withCosign(t)
	c.run(c.cosign, "generate-key-pair")
	api := harness.Start(t, harness.Options{}).API(t)
	host := ocitest.Start(t, nil)
	for name, form := range map[string]string{"older": "--new-bundle-format=false", "newer": "--new-bundle-format"} {
		module := plugintest.Build(t, plugintest.CronTab)
		digest := ocitest.Push(t, host+"/team/"+name, "v1", auth.Credential{}, ocitest.Layer{MediaType: "application/wasm", Content: module})
		c.offline("sign", "--key", "cosign.key", "--allow-http-registry", form, host+"/team/"+name+"@"+digest)
		api.Post(trusts, c.policy(name, "cosign.pub", `,"images":true`)).Want(201)
		api.Post(modulePath, `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"`+name+`"},"spec":{"source":{"oci":{"image":"`+host+`/team/`+name+`:v1"}}}}`).Want(201)
		awaitTrusted(api, name, "True", "Signed", "True")
		if r := api.Get(modulePath + "/" + name).Want(200); r.Str("status.digest") != signature.Digest(module) {
			t.Errorf("%s: %s", name, r.Body)
		}
	}
}
