// Package files owns the reading of files that somebody else writes, whose size has a
// bound whatever they say. It must not know what is in them, nor when to read them again.
package files

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read reads a file of at most so many bytes. All errors are a [fs.PathError].
func Read(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d bytes", most)}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
