package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// bundle packs files, by turns names and contents.
func bundle(t testing.TB, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	all := tar.NewWriter(packed)
	for i := 0; i < len(files); i += 2 {
		header := &tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o600, Typeflag: tar.TypeReg}
		if target, link := strings.CutPrefix(files[i+1], "-> "); link {
			header.Typeflag, header.Linkname, header.Size = tar.TypeSymlink, target, 0
		}
		if err := all.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if header.Size > 0 {
			if _, err := all.Write([]byte(files[i+1])); err != nil {
				t.Fatal(err)
			}
		}
	}
	if all.Close() != nil || packed.Close() != nil {
		t.Fatal("no bundle is made")
	}
	return out.Bytes()
}

func TestTheModuleOfABundle(t *testing.T) {
	whole := bundle(t, "/data.json", "{}", "/a.rego", "package a", "/policy.wasm", "module")
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"a module":       {[]byte("\x00asm"), "\x00asm"},
		"a bundle":       {whole, "module"},
		"relative":       {bundle(t, "./policy.wasm", "module"), "module"},
		"other paths":    {bundle(t, "/a/policy.wasm", "other", "/a/data.json", "{1}", "../policy.wasm", "module"), "module"},
		"no module":      {bundle(t, "/data.json", "{}"), "the bundle has no policy.wasm"},
		"data":           {bundle(t, "/data.json", `{"a":1}`, "/policy.wasm", "module"), "the bundle has data"},
		"no data at all": {bundle(t, "/data.json", `[`, "/policy.wasm", "module"), "the bundle has data"},
		"twice":          {bundle(t, "/policy.wasm", "module", "policy.wasm", "other"), "has /policy.wasm twice"},
		"a link":         {bundle(t, "/policy.wasm", "-> /etc/passwd"), "or not as a file"},
		"cut off":        {whole[:len(whole)-20], "it is no bundle"},
		"no bundle":      {[]byte("\x1f\x8bxxxxxxxxxx"), "it is no bundle"},
		"many files":     {bundle(t, strings.Split(strings.Repeat("a,,", maxBundleEntries+1)+"b,", ",")...), "more than 10000 files"},
		"large":          {bundle(t, "/a", strings.Repeat("\x00", maxBundleBytes)), "more than 268435456 bytes"},
	} {
		got, err := moduleIn(c.content)
		if err != nil {
			got = []byte(err.Error())
		}
		if !strings.Contains(string(got), c.want) || (err == nil) != (string(got) == c.want) {
			t.Errorf("%s: %.200s, want %s", name, got, c.want)
		}
	}
}

// Whatever a file is, it has a module or is refused.
func FuzzModuleIn(f *testing.F) {
	f.Add(bundle(f, "/data.json", "{}", "/policy.wasm", "module"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if got, err := moduleIn(content); err == nil && len(got) == 0 && len(content) > 0 {
			t.Error("an empty module")
		}
	})
}
