package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/wasmgate/wasmgate/gateway/options"
)

// outputs are the flags of servers that name a file to write. The files of all others are
// read.
var outputs = []string{"audit-log-path", "write-kubeconfig"}

// lookForFiles tells which files that flags of a server name cannot be read, and which
// folders are none: what a flag calls its value is `file` or `directory` where it is one.
// What is in dataDir the server may make.
func lookForFiles(flags *pflag.FlagSet, dataDir string) error {
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		what, _ := pflag.UnquoteUsage(f)
		if info, err := os.Stat(f.Value.String()); what == "directory" && err == nil && !info.IsDir() {
			errs = append(errs, fmt.Errorf("--%s: %s is a file, not a folder", f.Name, f.Value))
		}
		if what != "file" {
			return
		}
		if slices.Contains(outputs, f.Name) {
			if err := canBeWritten(f.Value.String()); err != nil {
				errs = append(errs, fmt.Errorf("--%s: %w", f.Name, err))
			}
			return
		}
		files := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			files = several.GetSlice()
		}
		for _, file := range files {
			if file == "" {
				continue
			}
			err := lookFor(file, false)
			if err != nil && !(errors.Is(err, fs.ErrNotExist) && options.Below(dataDir, file)) {
				errs = append(errs, fmt.Errorf("--%s: %w", f.Name, err))
			}
		}
	})
	return errors.Join(errs...)
}

// canBeWritten fails where a folder is in the place of a file, or a file in that of a folder
// above it. "-" is the standard output.
func canBeWritten(file string) error {
	if file == "" || file == "-" {
		return nil
	}
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder, not a file", file)
	}
	for at := filepath.Dir(file); err != nil && at != "."; at = filepath.Dir(at) {
		if info, err = os.Stat(at); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is a file, not a folder", at)
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return nil
}

// lookForAll tells which files and folders cannot be read.
func lookForAll(files []string) error {
	var errs []error
	for _, file := range files {
		errs = append(errs, lookFor(file, true))
	}
	return errors.Join(errs...)
}

// lookFor fails where a file is not there or cannot be read. What is no file but a pipe is
// not opened: it can be read only once.
func lookFor(file string, folders bool) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", file, fs.ErrNotExist)
	case err != nil:
		return err
	case info.IsDir() && !folders:
		return fmt.Errorf("%s is a folder, not a file", file)
	case !info.Mode().IsRegular():
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	return f.Close()
}
