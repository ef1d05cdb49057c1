package wasm

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// private makes a folder that nobody else can write to, or verifies that the
// one that is there, with all that is in it, is such: what is in it is
// executed.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if mode := info.Mode(); !mode.IsDir() && !mode.IsRegular() {
			return fmt.Errorf("%s is neither a file nor a folder (%s); remove it", path, mode)
		} else if mode.Perm()&0o022 != 0 {
			return fmt.Errorf("%s can be written by others (%s); make sure that nobody did, or remove it, and take that permission away", path, mode)
		}
		if owner, ok := ownerOf(info); ok && owner != os.Geteuid() {
			return fmt.Errorf("%s belongs to the user %d, and the gateway runs as %d; remove it, or run as its owner", path, owner, os.Geteuid())
		}
		return nil
	})
}
