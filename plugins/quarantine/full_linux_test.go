package quarantine

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// full does something while no file can be written to, as on a full disk.
func full(t *testing.T, do func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Skip(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 0, Max: was.Max}); err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Fatal(err)
		}
	}()
	do()
}

// What could not be marked was not begun: it is no suspect, and what is one stays so.
func TestAFullDiskMakesNoSuspects(t *testing.T) {
	dir := t.TempDir()
	begin(t, open(t, dir), "bad", "one") // and here the process ends
	m := open(t, dir)
	full(t, func() {
		for _, key := range []string{"good", "bad"} {
			if _, err := m.Begin(key, "two"); !errors.Is(err, syscall.EFBIG) {
				t.Errorf("%s: %v", key, err)
			}
		}
	})
	if n := marks(t, dir); n != 1 {
		t.Errorf("%d marks are left", n)
	}
	m = open(t, dir)
	for _, attempt := range []string{"", "two"} {
		begin(t, m, "good", attempt)()
	}
	var suspect *Suspect
	if _, err := m.Begin("bad", "one"); !errors.As(err, &suspect) {
		t.Errorf("what ended the process is forgotten: %v", err)
	}
	begin(t, m, "bad", "two") // and here it ends again
	full(t, func() {
		if err := m.Close(); err == nil {
			t.Error("a mark that is not taken back is not told of")
		}
	})
	m = open(t, dir)
	for _, attempt := range []string{"one", "two"} {
		if _, err := m.Begin("bad", attempt); !errors.As(err, &suspect) {
			t.Errorf("after an end on a full disk: %v", err)
		}
	}
}

// What was being written when the process ended was not begun either.
func TestAnUnfinishedMarkIsNone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, unfinished+"good"), []byte(`{"att`), 0o600); err != nil {
		t.Fatal(err)
	}
	m := open(t, dir)
	if n := marks(t, dir); n != 0 {
		t.Errorf("%d files are left", n)
	}
	begin(t, m, "good", "")()
}
