package options

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// File is a file that a flag names.
type File struct {
	Flag string
	// Paths are those of the file and of what belongs to it, such as a key; "" is none.
	// Where all are, there is nothing to look at.
	Paths []string
	// Look tells why they cannot be used as they are. It makes and starts nothing.
	Look func() error
}

// Look tells which files cannot be used as they are, so that a gateway is refused before
// it has made anything. Not looked at are those that it may make itself in its data
// directory, and what can be read only once, as a pipe.
func Look(all []File, dataDir string) error {
	var errs []error
	for _, f := range all {
		if !isLookedAt(f.Paths, dataDir) {
			continue
		}
		err := f.Look()
		if err != nil && !strings.HasPrefix(err.Error(), "--") {
			err = fmt.Errorf("--%s: %w", f.Flag, err)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return Mistake{err}
	}
	return nil
}

func isLookedAt(paths []string, dataDir string) bool {
	named := len(paths) == 0
	for _, path := range paths {
		if path == "" {
			continue
		}
		named = true
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && Below(dataDir, path), err == nil && !info.Mode().IsRegular() && !info.IsDir():
			return false
		}
	}
	return named
}

// Below reports whether a file is in the data directory, where a gateway may make it.
func Below(dataDir, path string) bool {
	folder, err := filepath.Abs(dataDir)
	if err != nil || dataDir == "" {
		return false
	}
	file, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	below, err := filepath.Rel(folder, file)
	return err == nil && filepath.IsLocal(below)
}
