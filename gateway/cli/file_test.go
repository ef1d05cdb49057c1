package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is written to stays what it is: only its content is another one.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(at("private"), []byte("longer than before"), 0o600), os.Chmod(at("private"), 0o640),
		os.WriteFile(at("target"), nil, 0o600), os.Symlink("target", at("link")), os.Symlink("later", at("dangling")),
		syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("pipe", at("to-pipe")),
	); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(at("pipe"), os.O_RDWR, 0) // which waits for no writer
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	plain, err := os.OpenFile(at("plain"), os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	usual, err := plain.Stat()
	if err := errors.Join(err, plain.Close()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file string // that has the content then; "" for none
		mode os.FileMode
	}{
		"new": {"new", usual.Mode()}, "private": {"private", 0o640}, "link": {"target", 0o600}, "dangling": {"later", usual.Mode()},
		"pipe": {"", 0}, "to-pipe": {"", 0},
	} {
		before, _ := os.Lstat(at(name))
		if err := writeFile(at(name), []byte("content")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		after, err := os.Lstat(at(name))
		if err != nil || before != nil && before.Mode() != after.Mode() {
			t.Errorf("%s is another file: %v", name, err)
		}
		if c.file == "" {
			if pipe, err := os.Lstat(at("pipe")); err != nil || pipe.Mode().Type() != os.ModeNamedPipe {
				t.Fatalf("%s: the pipe is %v, %v", name, pipe, err)
			}
			got := make([]byte, len("content"))
			if _, err := io.ReadFull(reader, got); err != nil || string(got) != "content" {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			continue
		}
		got, err := os.ReadFile(at(c.file))
		info, _ := os.Lstat(at(c.file))
		if err != nil || string(got) != "content" || info.Mode() != c.mode {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if hidden, err := filepath.Glob(at(".*")); err != nil || len(hidden) > 0 {
		t.Errorf("left behind: %v, %v", hidden, err)
	}
	if err := writeFile(filepath.Join(dir, "none", "file"), nil); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "open "+filepath.Join(dir, "none", "file")+": ") {
		t.Errorf("in no folder: %v", err)
	}
	if err := writeFile(dir, nil); err == nil {
		t.Error("a folder was written to")
	}
}

// What is written to the output by another name is not followed by a message.
func TestTheOutputByAnotherName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	link := file + "-link"
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{file: true, link: true, os.DevNull: false, file + "-none": false} {
		if isOutput(name, out) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
