package quarantine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func open(t *testing.T, dir string) *Marks {
	t.Helper()
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func begin(t *testing.T, m *Marks, key, attempt string) func() {
	t.Helper()
	end, err := m.Begin(key, attempt)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func marks(t *testing.T, dir string) int {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestWhatAProcessEndedWithIsHeldBackUntilAnotherAttempt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	m := open(t, dir)
	begin(t, m, "good", "")()
	begin(t, m, "bad", "one") // and here the process ends

	m = open(t, dir)
	begin(t, m, "good", "")()
	_, err := m.Begin("bad", "one")
	var suspect *Suspect
	if !errors.As(err, &suspect) || suspect.Attempt != "one" {
		t.Fatalf("the same attempt: %v", err)
	}
	if _, err := m.Begin("bad", "one"); !errors.As(err, &suspect) {
		t.Errorf("asked again: %v", err)
	}
	end := begin(t, m, "bad", "two")

	// The other attempt ends the process, too.
	m = open(t, dir)
	if _, err := m.Begin("bad", "two"); !errors.As(err, &suspect) || suspect.Attempt != "two" {
		t.Errorf("the second attempt: %v", err)
	}
	// Two that ask in turn do not end it for ever.
	if _, err := m.Begin("bad", "one"); !errors.As(err, &suspect) || suspect.Attempt != "one" {
		t.Errorf("the first attempt once more: %v", err)
	}
	third := begin(t, m, "bad", "three")
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	third()
	m = open(t, dir)
	if _, err := m.Begin("bad", "two"); !errors.As(err, &suspect) {
		t.Errorf("after an orderly end: %v", err)
	}
	begin(t, m, "bad", "three")() // well
	for range 2 {
		begin(t, m, "bad", "one")()
		begin(t, m, "bad", "two")()
		m = open(t, dir)
	}
	end() // of a process that is no more
	if n := marks(t, dir); n != 0 {
		t.Errorf("%d marks left", n)
	}
}

func TestAMarkLastsUntilTheLastLoadEnds(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	first, second := begin(t, m, "k", "x"), begin(t, m, "k", "x")
	first()
	first()
	if marks(t, dir) != 1 {
		t.Error("the mark is gone while one is still loading")
	}
	second()
	if marks(t, dir) != 0 {
		t.Error("the mark is left")
	}
}

func TestAnOrderlyEndLeavesSuspectsAlone(t *testing.T) {
	dir := t.TempDir()
	begin(t, open(t, dir), "bad", "")
	m := open(t, dir)
	end := begin(t, m, "slow", "")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	end()
	m = open(t, dir)
	begin(t, m, "slow", "")()
	if _, err := m.Begin("bad", ""); err == nil {
		t.Error("the suspect is forgotten")
	}
}

// However much is being loaded, an orderly end takes back the marks of all but
// the suspects; one that it cannot take back is told.
func TestAnOrderlyEndTakesBackEveryMark(t *testing.T) {
	dir := t.TempDir()
	begin(t, open(t, dir), "bad", "one")
	m := open(t, dir)
	begin(t, m, "bad", "two")
	for _, key := range strings.Split("abcdefghijklmnop", "") {
		begin(t, m, key, "")
	}
	if err := m.Close(); err != nil || marks(t, dir) != 1 {
		t.Errorf("%d marks are left, %v", marks(t, dir), err)
	}
	m = open(t, dir)
	if _, err := m.Begin("bad", "one"); err == nil {
		t.Error("the suspect is forgotten")
	}
	begin(t, m, "k", "")
	file := filepath.Join(dir, "k")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(file, "in it"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err == nil {
		t.Error("a mark that stays is not told of")
	}
}

func TestAMarkThatIsCutOffCounts(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad"), []byte(`{"att`), 0o600); err != nil {
		t.Fatal(err)
	}
	m := open(t, dir)
	if _, err := m.Begin("bad", ""); err == nil {
		t.Error("not held back")
	}
}

func TestWhatCannotBeMarkedIsNotBegun(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Begin("k", ""); err == nil {
		t.Error("no error")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil {
		t.Error("a file is no folder")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a folder is no mark")
	}
}

func TestHammer(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				end, err := m.Begin([]string{"a", "b"}[i%2], "")
				if err != nil {
					t.Error(err)
					return
				}
				end()
			}
		})
	}
	wg.Wait()
	if n := marks(t, dir); n != 0 {
		t.Errorf("%d marks left", n)
	}
}
