package wasm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// kept is the folder of compiled code. The runtime finds a file in it by a name
// of its own, so the index says for which module there is one:
//
//	wazero-VERSION-ARCH-OS/NAME   compiled code
//	index/DIGEST                  the path of that and its digest, by the digest of a module
//	refused/DIGEST                why there is none (refused.go)
//	scratch-NUMBER/               what another process is about to hand over
//
// No other process uses it meanwhile. Code that no module uses is collected
// (collect.go).
type kept struct {
	dir    string
	opened time.Time
	most   int64 // of bytes that nobody uses

	// mu is held while files are moved or removed.
	mu sync.Mutex
	// users are how many use the code of a module, or are about to.
	users map[string]int
}

const (
	indexFolder   = "index"
	codeFolder    = "wazero-*"
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
	return &kept{dir: dir, opened: time.Now(), most: spareBytes, users: map[string]int{}}, err
}

// line is the line of the index about a module.
func (k *kept) line(digest string) string { return filepath.Join(k.dir, indexFolder, digest) }

// entry is a line of the index: the path of code below the folder, and its digest.
type entry struct{ path, digest string }

// entry reads a line of the index; one that a crash cut off says nothing.
func (k *kept) entry(digest string) (e entry, ok bool) {
	line, err := os.ReadFile(k.line(digest))
	if err != nil {
		return entry{}, false
	}
	e.path, e.digest, ok = strings.Cut(string(line), " ")
	return e, ok && filepath.IsLocal(e.path)
}

// has tells whether the code of a module is there, and what it was when it was
// adopted: what was changed since is not run.
func (k *kept) has(digest string) bool {
	e, ok := k.entry(digest)
	if !ok {
		return false
	}
	sum, err := digestOfFile(filepath.Join(k.dir, e.path))
	return err == nil && sum == e.digest
}

// digestOfFile is the SHA-256 of a regular file, in hex.
func digestOfFile(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
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

// adopt takes the only file in a scratch folder over, as the code of a module,
// which is in use.
func (k *kept) adopt(scratch, digest string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
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

// note writes a line of the index about code that was just adopted.
func (k *kept) note(digest, path string) error {
	sum, err := digestOfFile(filepath.Join(k.dir, path))
	if err != nil {
		return err
	}
	return os.WriteFile(k.line(digest), []byte(path+" "+sum), 0o600)
}
