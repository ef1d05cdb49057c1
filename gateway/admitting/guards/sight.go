package guards

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apiserver/pkg/admission/plugin/manifest"
)

// sight is a folder at a glance: enough to tell that nothing in it has changed.
type sight struct {
	hash      string
	documents []manifest.FileDoc
	// contents are the files of modules, which are too large to be read again and again.
	contents []fs.FileInfo
}

// look reads the documents of a folder, and finds the contents beside them.
func look(folder string) (s sight, err error) {
	if s.documents, s.hash, err = manifest.LoadFiles(folder); err != nil {
		return s, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return s, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".wasm" {
			continue
		}
		info, err := os.Stat(filepath.Join(folder, e.Name()))
		if err != nil {
			return s, err
		}
		s.contents = append(s.contents, info)
	}
	return s, nil
}

// same reports whether nothing has changed.
func (s sight) same(other sight) bool {
	return s.hash == other.hash && slices.EqualFunc(s.contents, other.contents, func(a, b fs.FileInfo) bool {
		return a.Name() == b.Name() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
	})
}
