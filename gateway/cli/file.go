package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// isOutput reports whether a file is where out writes to, as /dev/stdout is.
func isOutput(file string, out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	there, err := os.Stat(file)
	if err != nil {
		return false
	}
	here, err := f.Stat()
	return err == nil && os.SameFile(there, here)
}

// writeFile writes a file, which is never there in part and keeps its mode if it was
// there before. Links are followed, and what is no regular file, such as a device or
// a pipe, is written to.
func writeFile(path string, data []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replace(path, data, nil)
	case err == nil && info.Mode().IsRegular():
		if err := replace(path, data, info); !errors.Is(err, fs.ErrPermission) {
			return err
		} // the file may be writable though its folder is not
	}
	return os.WriteFile(path, data, 0o666)
}

// replace puts a new file in the place of the one that info is about, nil for none.
func replace(path string, data []byte, info fs.FileInfo) (err error) {
	mode := fs.FileMode(0o666) // less what the umask says
	if info != nil {
		mode = info.Mode().Perm()
	}
	temporary := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%x", filepath.Base(path), rand.Uint64()))
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			at.Path = path // which is what was asked for
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary))
		}
	}()
	_, err = f.Write(data)
	if err == nil && info != nil {
		err = f.Chmod(mode)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
