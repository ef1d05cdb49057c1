package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
)

// The bounds of a bundle.
const (
	maxBundle        = 64 << 20 // of the module, the most that a gateway takes
	maxBundleEntries = 10_000
	maxBundleBytes   = 256 << 20 // of all that is in it
)

// The files of a bundle that are looked at; paths in it are absolute or not.
const (
	bundleModule = "/policy.wasm"
	bundleData   = "/data.json"
)

// moduleIn is the module that a file has: the file itself, or policy.wasm of a bundle as `opa
// build` writes it. Nothing of a bundle is written anywhere. Its data would get lost,
// so there may be none.
func moduleIn(content []byte) ([]byte, error) {
	if !bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		return content, nil
	}
	packed, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("it is no bundle: %w", err)
	}
	found := map[string][]byte{}
	limited := &io.LimitedReader{R: packed, N: maxBundleBytes}
	for all, n := tar.NewReader(limited), 0; ; n++ {
		header, err := all.Next()
		switch {
		case errors.Is(err, io.EOF) && limited.N > 0:
			return bundled(found)
		case limited.N <= 0:
			return nil, fmt.Errorf("the bundle has more than %d bytes", maxBundleBytes)
		case err != nil:
			return nil, fmt.Errorf("it is no bundle: %w", err)
		case n == maxBundleEntries:
			return nil, fmt.Errorf("the bundle has more than %d files", maxBundleEntries)
		}
		name := path.Clean("/" + header.Name)
		if name != bundleModule && name != bundleData {
			continue
		}
		if found[name] != nil || header.Typeflag != tar.TypeReg || header.Size > maxBundle {
			return nil, fmt.Errorf("the bundle has %s twice, or not as a file of %d bytes at most", name, maxBundle)
		}
		if found[name], err = io.ReadAll(all); err != nil {
			return nil, fmt.Errorf("it is no bundle: %w", err)
		}
	}
}

func bundled(found map[string][]byte) ([]byte, error) {
	if len(found[bundleModule]) == 0 {
		return nil, errors.New("the bundle has no policy.wasm: build it with opa build -t wasm -e ENTRYPOINT")
	}
	var data map[string]json.RawMessage
	if found[bundleData] != nil && (json.Unmarshal(found[bundleData], &data) != nil || len(data) > 0) {
		return nil, errors.New("the bundle has data, which a module takes as its configuration: build it without, and give the data with --config")
	}
	return found[bundleModule], nil
}
