package etcd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

func TestDataDirMustBeNamed(t *testing.T) {
	if _, err := lockDir(t.Context(), EmbeddedConfig{}); err == nil {
		t.Error("no directory is accepted")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lockDir(t.Context(), EmbeddedConfig{Dir: filepath.Join(file, "data")}); err == nil {
		t.Error("a directory below a file is accepted")
	}
}

// TestServerThatEndsIsWaitedFor: who was asked to end has the directory for a while yet.
func TestServerThatEndsIsWaitedFor(t *testing.T) {
	c := EmbeddedConfig{Dir: t.TempDir(), Wait: time.Minute}
	first, err := lockDir(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	said := make(saying, 1)
	c.Logger = zerolog.New(said)
	next := make(chan error, 1)
	go func() {
		lock, err := lockDir(t.Context(), c)
		if err == nil {
			err = lock.Close()
		}
		next <- err
	}()
	if text := <-said; !strings.Contains(text, "waiting for it to end") || !strings.Contains(text, c.Dir) {
		t.Errorf("it says %s", text)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-next; err != nil {
		t.Error(err)
	}
}

// saying has what is logged.
type saying chan string

func (s saying) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}

func TestServerThatStaysIsNotWaitedForWithoutEnd(t *testing.T) {
	c := EmbeddedConfig{Dir: t.TempDir(), Wait: 2 * lockRetry}
	lock, err := lockDir(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := lockDir(t.Context(), c); !errors.Is(err, ErrDirInUse) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.Wait = time.Hour
	if _, err := lockDir(ctx, c); !errors.Is(err, ErrDirInUse) {
		t.Errorf("nobody waits: %v", err)
	}
}
