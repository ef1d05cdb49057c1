package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/bounds/files"
)

func TestFilesHaveABound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := files.Read(path, 4); err != nil || string(data) != "four" {
		t.Errorf("got %q, %v", data, err)
	}
	var failed *fs.PathError
	if data, err := files.Read(path, 3); data != nil || !errors.As(err, &failed) || !strings.Contains(err.Error(), "f: it has more than 3 bytes") {
		t.Errorf("too long: %q, %v", data, err)
	}
	if _, err := files.Read(path+"x", 3); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &failed) {
		t.Errorf("missing: %v", err)
	}
	if _, err := files.Read(filepath.Dir(path), 3); !errors.As(err, &failed) {
		t.Errorf("a folder: %v", err)
	}
	if data, err := files.Read("/dev/zero", 1000); data != nil || err == nil {
		t.Errorf("without an end: %d bytes, %v", len(data), err)
	}
}
