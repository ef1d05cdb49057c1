package etcd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

const dbLockTimeout = 100 * time.Millisecond

// ErrDirInUse is returned by [StartEmbedded] when another server holds the
// data directory.
var ErrDirInUse = errors.New("data directory is in use by another process")

// UntrustedDir is why [StartEmbedded] refuses a data directory into which
// somebody else may have put what would be served.
type UntrustedDir struct {
	Dir string
	// Reason says who can write there.
	Reason string
}

// Error names the directory and says what to do.
func (e *UntrustedDir) Error() string {
	return fmt.Sprintf("%s: %s; its content cannot be trusted. Give it to this user with mode 0700 if you know what is in it, or choose another", e.Dir, e.Reason)
}

// lockDir makes dir and takes it for this process. The lock goes with the
// process, however it ends.
func lockDir(dir string) (*fileutil.LockedFile, error) {
	if dir == "" {
		return nil, errors.New("etcd: no data directory")
	}
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("etcd: data directory: %w", err)
	}
	lock, err := fileutil.TryLockFile(filepath.Join(dir, "wasmgate.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("etcd: %s: %w", dir, ErrDirInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("etcd: lock %s: %w", dir, err)
	}
	if err := probeDatabase(dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// probeDatabase sees that no other make of etcd has the database open, for
// which the server would wait without end.
func probeDatabase(dir string) error {
	path := filepath.Join(dir, "member", "snap", "db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: dbLockTimeout})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return fmt.Errorf("etcd: %s: %w", path, ErrDirInUse)
	}
	if err != nil {
		return fmt.Errorf("etcd: open %s: %w", path, err)
	}
	return db.Close()
}

// makeDir makes dir, or sees that nobody but this user and its group could
// write there, and shuts everybody else out. A group may be there because
// container platforms give volumes to the group that they run a process in.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if reason := untrusted(info, os.Geteuid()); reason != "" {
		return &UntrustedDir{Dir: dir, Reason: reason}
	}
	return os.Chmod(dir, 0o700)
}

// untrusted says why a directory could hold what the user did not put there;
// "" if it could not.
func untrusted(info fs.FileInfo, user int) string {
	if owner, known := ownerOf(info); known && owner != user {
		return fmt.Sprintf("it belongs to user %d, not to %d", owner, user)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Sprintf("everybody can write to it (mode %04o)", info.Mode().Perm())
	}
	return ""
}
