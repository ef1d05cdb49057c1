package pki

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// readOrCreate returns the content of a file, which make provides if there is
// none. A file that others can read is refused: what it holds is a secret.
func readOrCreate(path string, make func() ([]byte, error)) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err == nil {
		return data, private(path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if data, err = make(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return data, WriteFile(path, data)
}

func private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		return fmt.Errorf("%s holds a secret and has mode %04o; allow only its owner (chmod 600)", path, info.Mode().Perm())
	}
	return nil
}
