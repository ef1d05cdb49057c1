package etcd

import (
	"context"
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

// lockRetry is how often a directory is tried that another process holds.
const lockRetry = 50 * time.Millisecond

// lockDir makes the directory of c and takes it for this process. The lock goes with
// the process, however it ends. Who holds it has as long to leave as c says.
func lockDir(ctx context.Context, c EmbeddedConfig) (*fileutil.LockedFile, error) {
	if err := makeDir(c.Dir); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	retry := time.NewTicker(lockRetry)
	defer retry.Stop()
	for told := false; ; told = true {
		lock, err := tryLock(c.Dir)
		if !errors.Is(err, ErrDirInUse) || c.Wait == 0 {
			return lock, err
		}
		if !told {
			c.Logger.Warn().Str("dir", c.Dir).Stringer("most", c.Wait).Msg("another process holds the data directory: waiting for it to end")
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-retry.C:
		}
	}
}

func makeDir(dir string) error {
	if dir == "" {
		return errors.New("etcd: no data directory")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("etcd: data directory: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("etcd: data directory: %w", err)
	}
	return nil
}

// tryLock takes a directory that nobody holds.
func tryLock(dir string) (*fileutil.LockedFile, error) {
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
