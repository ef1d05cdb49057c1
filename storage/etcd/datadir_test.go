package etcd

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDataDirMustBeNamed(t *testing.T) {
	if _, err := lockDir(""); err == nil {
		t.Error("no directory is accepted")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lockDir(filepath.Join(file, "data")); err == nil {
		t.Error("a directory below a file is accepted")
	}
}
