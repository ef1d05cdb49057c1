package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/cli/manifest"
)

// standardInput is how -f names it.
const standardInput = "-"

// manifestFile is a file of objects.
type manifestFile struct {
	name      string
	documents []document
}

// document is one object in a file, as it is written and as JSON, which is nil for a
// document with nothing in it.
type document struct{ text, object []byte }

// manifestEnds are the ends of the files that are read of folders.
var manifestEnds = []string{".yaml", ".yml", ".json"}

// standardIn is a command's standard input, which an interruption ends.
func standardIn(cmd *cobra.Command) io.Reader { return &interruptible{cmd.Context(), cmd.InOrStdin()} }

type interruptible struct {
	ctx context.Context
	in  io.Reader
}

// errInterrupted is told of an input that is waited for no longer.
var errInterrupted = errors.New("interrupted while it was read")

// Read implements [io.Reader].
func (r *interruptible) Read(p []byte) (int, error) {
	type read struct {
		n    int
		err  error
		data []byte
	}
	done := make(chan read, 1) // what is read after the end is nobody's
	go func() {
		data := make([]byte, len(p))
		n, err := r.in.Read(data)
		done <- read{n, err, data}
	}()
	select {
	case got := <-done:
		return copy(p, got.data[:got.n]), got.err
	case <-r.ctx.Done():
		return 0, errInterrupted
	}
}

// readManifests reads files, and all manifests in and below folders, in their order.
func readManifests(names []string, in io.Reader) (all []manifestFile, err error) {
	for _, name := range names {
		files := []string{name}
		if name != standardInput {
			if files, err = manifestsIn(name); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			m, err := readManifest(file, in)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// manifestsIn are the manifests of a folder, or the file of that name.
func manifestsIn(name string) (files []string, err error) {
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && (path == name || slices.Contains(manifestEnds, filepath.Ext(path))) {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no files that end with one of %s", name, strings.Join(manifestEnds, ", "))
	}
	return files, err
}

func readManifest(file string, in io.Reader) (m manifestFile, err error) {
	var text []byte
	if file == standardInput {
		text, err = io.ReadAll(in)
	} else {
		text, err = os.ReadFile(file)
	}
	var failed *fs.PathError
	switch {
	case errors.As(err, &failed):
		return m, failed.Err // the name is said by who asks
	case err != nil:
		return m, err
	}
	m.name = file
	for _, part := range manifest.Split(text) {
		object, err := yaml.YAMLToJSONStrict(part)
		if err != nil {
			return m, err
		}
		if string(object) == "null" {
			object = nil
		}
		m.documents = append(m.documents, document{part, object})
	}
	return m, nil
}

// with is the document with the value of another object. What is JSON stays JSON.
func (d document) with(object []byte) ([]byte, error) {
	if !json.Valid(d.text) {
		return manifest.Change(d.text, object)
	}
	var out bytes.Buffer
	err := json.Indent(&out, object, "", "    ")
	out.WriteByte('\n')
	return out.Bytes(), err
}
