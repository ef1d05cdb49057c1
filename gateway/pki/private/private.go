// Package private owns one question: does a file or folder belong to the user
// that runs the gateway, and to nobody else?
//
// Who may write where keys, cached machine code or a database are read from
// controls the gateway. It must not know what the files hold.
package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrForeign tells that somebody else owns a path, or may do with it what only
// its owner should.
var ErrForeign = errors.New("not private")

// Folder returns an error unless path is a folder that is owned by the user
// of this process and that nobody else can write to.
func Folder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder", path)
	}
	if err := owned(path, info); err != nil {
		return err
	}
	return closed(path, info, 0o022, "write to it (chmod go-w)")
}

// Parent returns an error unless path is a folder in which nobody else can put
// something in place of what this process keeps there. A folder of root's is
// taken from the hands of whoever runs this process: it is how containers get
// theirs, open to all, when there is nobody else.
func Parent(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if uid, ok := owner(info); ok && uid == 0 && os.Geteuid() != 0 && info.IsDir() {
		return nil
	}
	if info.Mode()&fs.ModeSticky != 0 && info.IsDir() {
		return owned(path, info)
	}
	return Folder(path)
}

// Secret returns an error unless path, a file or a folder, is owned by the
// user of this process and closed to everybody else.
func Secret(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return secret(path, info)
}

// Open opens a file as [os.Open] does, and returns an error unless it is a
// regular file that [Secret] accepts. What is read from it is what was checked.
func Open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err == nil {
		err = secret(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func secret(path string, info fs.FileInfo) error {
	if err := owned(path, info); err != nil {
		return err
	}
	return closed(path, info, 0o077, "see or change it (chmod go=)")
}

func owned(path string, info fs.FileInfo) error {
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		return fmt.Errorf("%w: %s belongs to user %d, not to user %d who runs this", ErrForeign, path, uid, os.Geteuid())
	}
	return nil
}

func closed(path string, info fs.FileInfo, forbidden fs.FileMode, what string) error {
	if mode := info.Mode().Perm(); mode&forbidden != 0 {
		return fmt.Errorf("%w: %s has mode %04o; nobody but its owner may %s", ErrForeign, path, mode, what)
	}
	return nil
}
