package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

func (b *bench) Pull(_ context.Context, image workbench.Image) (workbench.Pulled, error) {
	b.image = image
	return b.pulled, b.pullErr
}

func (b *bench) Judge(_ context.Context, what workbench.Judged) (workbench.Trust, error) {
	b.judged = what
	return b.trust, b.trustErr
}

func TestInspectOfFiles(t *testing.T) {
	wasm := written(t, "m.wasm", "wasm")
	b := &bench{is: workbench.Inspection{Digest: "sha256:d", Size: 4, Hooks: []string{"wasmgate_convert"}, Exports: []string{"func a", "memory memory"}}}
	if out, exit, err := b.run(t, "module", "inspect", wasm); exit != 0 || !strings.Contains(out, "Exports:     func a\n             memory memory\n") {
		t.Errorf("status %d, %v\n%s", exit, err, out)
	}
	b.is.Problem = "it lacks exports"
	if out, exit, _ := b.run(t, "module", "inspect", wasm, "-o", "json"); exit != 1 || !strings.Contains(out, `"problem": "it lacks exports"`) || strings.Contains(out, "image") || strings.Contains(out, "trust") {
		t.Errorf("status %d\n%s", exit, out)
	}
}

func TestInspectOfImages(t *testing.T) {
	login, trusts := written(t, "config.json", "{}"), written(t, "trust.yaml", "a")
	b := &bench{is: workbench.Inspection{Digest: "sha256:d", Size: 4}, pulled: workbench.Pulled{Content: []byte("wasm"), Manifest: "sha256:m", Mirror: "mirror.example"}, trust: workbench.Trust{Policies: 1, SignedBy: []workbench.Signer{{Trust: "production", Authority: "release"}, {Trust: "other", Authority: "b"}}}}
	all := []string{"module", "inspect", "oci://a.example/b:v1", "--module-registries-file", "r.yaml", "--pull-config", login, "--module-trust-file", trusts, "--for", "tabs"}
	out, exit, err := b.run(t, all...)
	for _, line := range []string{"Image:       sha256:m\n", "Mirror:      mirror.example\n", "Digest:      sha256:d\n", "Trusted:     by release, for ModuleTrust \"production\"\n             by b, for ModuleTrust \"other\"\n"} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
	if i := b.image; exit != 0 || i.Name != "a.example/b:v1" || i.Registries != "r.yaml" || string(i.Login) != "{}" {
		t.Errorf("status %d, %v: pulled %+v", exit, err, i)
	}
	if j := b.judged; j.Trusts != trusts || j.Name != "tabs" || string(j.Content) != "wasm" || j.Image == nil || j.Image.Manifest != "sha256:m" {
		t.Errorf("judged %+v", j)
	}
	b.trust = workbench.Trust{Policies: 2}
	if out, exit, _ := b.run(t, all...); exit != 0 || !strings.Contains(out, "Trusted:     yes, none of 2 ModuleTrusts demands a signature\n") {
		t.Errorf("status %d\n%s", exit, out)
	}
	b.trust.Problem = "Unsigned: nobody signed it"
	if out, exit, err := b.run(t, append(all, "-o", "json")...); exit != 1 || err.Error() != b.trust.Problem || !strings.Contains(out, `"problem": "Unsigned: nobody signed it"`) || !strings.Contains(out, `"manifest": "sha256:m"`) {
		t.Errorf("status %d, %v\n%s", exit, err, out)
	}
	if out, exit, _ := b.run(t, all...); exit != 1 || !strings.Contains(out, "Trusted:     no\n") {
		t.Errorf("status %d\n%s", exit, out)
	}
}

// What a registry does not give is a failure, and what was typed wrongly a mistake.
func TestInspectOfImagesThatDoNotCome(t *testing.T) {
	wasm := written(t, "m.wasm", "wasm")
	b := &bench{pullErr: workbench.PullError{Err: errors.New("ImageNotFound: no such")}}
	if _, exit, err := b.run(t, "module", "inspect", "oci://a.example/b:v1"); exit != 1 || err.Error() != "oci://a.example/b:v1: ImageNotFound: no such" {
		t.Errorf("status %d, %v", exit, err)
	}
	b.pullErr = errors.New("ImageInvalid: no name")
	if _, exit, err := b.run(t, "module", "inspect", "oci://a"); exit != statusMistake || err.Error() != "oci://a: ImageInvalid: no name" {
		t.Errorf("status %d, %v", exit, err)
	}
	for line, want := range map[string]string{
		wasm + " --module-registries-file r.yaml": "is about images",
		wasm + " --pull-config c.json":            "is about images",
		wasm + " --for tabs":                      "by --module-trust-file",
		wasm + " --module-trust-file " + wasm:     "needs --for",
		"oci://a.example/b:v1 --timeout 0s":       "--timeout: must be greater than 0",
		"oci://a.example/b:v1 --pull-config none": "none: no such file",
		"oci://a.example/b:v1 --config none":      "none: no such file",
	} {
		if _, exit, err := b.run(t, append([]string{"module", "inspect"}, strings.Fields(line)...)...); exit != statusMistake || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: status %d, %v", line, exit, err)
		}
	}
	t.Setenv("WASMGATE_MODULE_REGISTRIES_FILE", "r.yaml") // which are a gateway's
	t.Setenv("WASMGATE_MODULE_TRUST_FILE", "t.yaml")
	if _, exit, err := b.run(t, "module", "inspect", wasm); exit != 0 || b.judged.Trusts != "" {
		t.Errorf("status %d, %v", exit, err)
	}
	if _, exit, err := b.run(t, "module", "inspect", wasm, "--for", "tabs"); exit != 0 || b.judged.Trusts != "t.yaml" {
		t.Errorf("status %d, %v", exit, err)
	}
	b = &bench{trustErr: errors.New("t.yaml: it has no ModuleTrust")}
	if out, exit, err := b.run(t, "module", "inspect", wasm, "--for", "tabs"); exit == 0 || err == nil || err.Error() != b.trustErr.Error() || out != "" {
		t.Errorf("status %d, %v\n%s", exit, err, out)
	}
	b = &bench{err: errors.New("it is no module")}
	if _, exit, err := b.run(t, "module", "inspect", "oci://a.example/b:v1"); exit != 1 || err.Error() != "oci://a.example/b:v1: it is no module" {
		t.Errorf("status %d, %v", exit, err)
	}
}
