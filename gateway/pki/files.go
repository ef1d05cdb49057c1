package pki

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wasmgate/wasmgate/gateway/pki/private"
)

// WriteFile replaces a file in one step: after a crash at any point it holds
// either the old or the new content, and nobody but its owner can read it.
func WriteFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// readOrCreate returns the content of a file, which make provides if there is
// none. A file that others can read is refused: what it holds is a secret.
func readOrCreate(path string, make func() ([]byte, error)) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err == nil {
		return data, private.Secret(path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if data, err = make(); err != nil {
		return nil, err
	}
	return data, WriteFile(path, data)
}

// openFolder makes the folder that keys are kept in. One that is there already
// must be as this makes it: keys that somebody else put there are not ours.
func openFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return private.Secret(dir)
}
