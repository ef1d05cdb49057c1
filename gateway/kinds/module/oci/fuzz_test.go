package oci_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci"
)

// Whatever a registry says that an image is, what comes of it is the one module that the
// manifest names, whole, or nothing.
func FuzzPull(f *testing.F) {
	const module = "module"
	layer := func(kind string, of digest.Digest, size int) string {
		return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, kind, of, size)
	}
	right := digest.FromString(module)
	for _, layers := range []string{
		layer(wasmLayer, right, len(module)), layer(wasmLayer, right, len(module)-1), layer(wasmLayer, digest.FromString("x"), len(module)),
		layer(wasmLayer, "sha256:x", len(module)), layer(wasmLayer, right, -1), layer(wasmLayer, "", 0), layer(otherLayer, right, len(module)),
		layer(wasmLayer, right, len(module)) + "," + layer(otherLayer, right, len(module)), layer(wasmLayer, right, 6) + "," + layer(wasmLayer, right, 6), "null", "{}", "0",
	} {
		f.Add([]byte(`{"schemaVersion":2,"mediaType":"`+ocispec.MediaTypeImageManifest+`","layers":[`+layers+`]}`), []byte(module))
	}
	f.Add([]byte(`{"layers":[],"Layers":[`+layer(wasmLayer, right, len(module))+`]}`), []byte(module))
	f.Add([]byte("null"), []byte{})

	var manifest, content atomic.Pointer[[]byte] // of the run
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/manifests/v1"):
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			_, _ = w.Write(*manifest.Load())
		case strings.Contains(r.URL.Path, "/blobs/"):
			_, _ = w.Write(*content.Load())
		default:
			http.NotFound(w, r)
		}
	}))
	f.Cleanup(registry.Close)
	image := strings.TrimPrefix(registry.URL, "http://") + "/team/tabs:v1"
	f.Fuzz(func(t *testing.T, says, has []byte) {
		manifest.Store(&says)
		content.Store(&has)
		got, err := client.Pull(t.Context(), image, oci.Login{})
		if err != nil {
			return
		}
		var m ocispec.Manifest
		if err := json.Unmarshal(says, &m); err != nil {
			t.Fatalf("an image whose manifest is none: %v", err)
		}
		named := 0
		for _, l := range m.Layers {
			if l.Digest == digest.FromBytes(got.Module) && l.Size == int64(len(got.Module)) {
				named++
			}
		}
		if named == 0 || !bytes.Equal(got.Module, has) || len(has) == 0 || int64(len(has)) > client.MaxBytes {
			t.Errorf("a module of %d bytes came of %d, which is named %d times by %s", len(got.Module), len(has), named, says)
		}
	})
}
