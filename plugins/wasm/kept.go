package wasm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// kept is the folder of compiled code. The runtime finds a file in it by a name
// of its own, so the index says for which module there is one:
//
//	wazero-VERSION-ARCH-OS/NAME   compiled code
//	index/DIGEST                  the path of that, by the digest of a module
//	refused/DIGEST                why there is none (refused.go)
//	scratch-NUMBER/               what another process is about to hand over
type kept struct{ dir string }

const (
	indexFolder   = "index"
	scratchFolder = "scratch-*"
)

// openKept makes the folders, and removes what a process left that ended while
// it compiled.
func openKept(dir string) (*kept, error) {
	left, err := filepath.Glob(filepath.Join(dir, scratchFolder))
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	for _, sub := range []string{indexFolder, refusedFolder} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, sub), 0o700))
	}
	return &kept{dir}, err
}

// has tells whether the code of a module should be there.
func (k *kept) has(digest string) bool {
	path, err := os.ReadFile(filepath.Join(k.dir, indexFolder, digest))
	if err != nil || !filepath.IsLocal(string(path)) {
		return false
	}
	info, err := os.Stat(filepath.Join(k.dir, string(path)))
	return err == nil && info.Mode().IsRegular()
}

// scratch makes an empty folder for one compilation; remove removes it.
func (k *kept) scratch() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp(k.dir, scratchFolder); err != nil {
		return "", nil, fmt.Errorf("compilation cache: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// code is what the runtime calls compiled code.
var code = regexp.MustCompile(`^wazero-[^/]+/[0-9a-f]{64}$`)

// adopt takes the only file in a scratch folder over, as the code of a module.
func (k *kept) adopt(scratch, digest string) error {
	found := ""
	err := filepath.WalkDir(scratch, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(scratch, path)
		if rel = filepath.ToSlash(rel); err != nil || found != "" || !d.Type().IsRegular() || !code.MatchString(rel) {
			return fmt.Errorf("the compiler left %q behind (%s)", rel, d.Type())
		}
		found = rel
		return nil
	})
	if err == nil && found == "" {
		err = errors.New("the compiler left no file behind")
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(k.dir, filepath.Dir(found)), 0o700)
	}
	if err == nil {
		err = os.Rename(filepath.Join(scratch, found), filepath.Join(k.dir, found))
	}
	if err == nil {
		err = k.note(digest, found)
	}
	if err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	return nil
}

// note writes a line of the index; one that a crash cut off leads nowhere.
func (k *kept) note(digest, path string) error {
	return os.WriteFile(filepath.Join(k.dir, indexFolder, digest), []byte(path), 0o600)
}
