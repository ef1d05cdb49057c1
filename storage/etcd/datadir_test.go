package etcd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDataDirOfOthersIsRefused(t *testing.T) {
	for _, tc := range []struct {
		mode    os.FileMode
		refused bool
	}{
		{0o700, false}, {0o750, false}, {0o770, false}, {0o755, false}, {0o702, true}, {0o777, true},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, tc.mode); err != nil {
			t.Fatal(err)
		}
		lock, err := lockDir(dir)
		var untrusted *UntrustedDir
		if errors.As(err, &untrusted) != tc.refused || (err != nil) != tc.refused {
			t.Errorf("mode %o: %v", tc.mode, err)
		}
		info, statErr := os.Stat(dir)
		if statErr != nil {
			t.Fatal(statErr)
		}
		if tc.refused {
			if untrusted.Dir != dir || !strings.Contains(err.Error(), dir+": everybody can write to it") {
				t.Errorf("mode %o: refused with %q", tc.mode, err)
			}
			if info.Mode().Perm() != tc.mode {
				t.Errorf("mode %o became %o although it was refused", tc.mode, info.Mode().Perm())
			}
			continue
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("mode %o became %o, want 0700", tc.mode, info.Mode().Perm())
		}
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDataDirOwner(t *testing.T) {
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if reason := untrusted(info, os.Geteuid()); reason != "" {
		t.Errorf("a directory of one's own: %s", reason)
	}
	if reason := untrusted(info, os.Geteuid()+1); !strings.Contains(reason, "belongs to user") {
		t.Errorf("a directory of somebody else's: %q", reason)
	}
}

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
