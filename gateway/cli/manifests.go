package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
		err = fmt.Errorf("%s has no files that end with %q", name, manifestEnds)
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
	if err != nil {
		return m, errors.Unwrap(err) // the name is said by who asks
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
