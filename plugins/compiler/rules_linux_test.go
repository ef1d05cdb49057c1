package compiler

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// An older kernel is asked for what it knows, and forbids what it can.
func TestRulesOfEachVersion(t *testing.T) {
	for version := 1; version <= landlock(); version++ {
		r, err := newRules(version)
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		for access, since := range map[uint64]int{unix.LANDLOCK_ACCESS_FS_MAKE_SYM: 1, unix.LANDLOCK_ACCESS_FS_REFER: 2, unix.LANDLOCK_ACCESS_FS_TRUNCATE: 3, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV: 5} {
			if has := r.files&access != 0; has != (version >= since) {
				t.Errorf("version %d forbids %x: %t", version, access, has)
			}
		}
		if err := unix.Close(r.fd); err != nil {
			t.Error(err)
		}
	}
}

// inside calls f on a thread that is enclosed: it may use dir, and of a file what is for
// files. The thread ends with it.
func inside(t *testing.T, dir, file string, f func()) {
	t.Helper()
	r, err := newRules(landlock())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.allow(dir, r.files), r.allow(file, onlyRead)); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := r.enforce(); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

// Who is enclosed uses its folder, reads the file that it may, and nothing else.
func TestAnEnclosedThread(t *testing.T) {
	if !Encloses() {
		t.Skip("the kernel has no Landlock")
	}
	dir, other := t.TempDir(), t.TempDir()
	file := filepath.Join(other, "readable")
	for _, path := range []string{file, filepath.Join(other, "secret")} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	errs := map[string]error{}
	inside(t, dir, file, func() {
		errs["write its own"] = os.WriteFile(filepath.Join(dir, "own"), nil, 0o600)
		_, errs["read what it may"] = os.ReadFile(file)
		errs["write what it may read"] = os.WriteFile(file, nil, 0o600)
		_, errs["read a secret"] = os.ReadFile(filepath.Join(other, "secret"))
		_, errs["list the folder"] = os.ReadDir(other)
	})
	for what, err := range errs {
		if may := what == "write its own" || what == "read what it may"; may != (err == nil) || !may && !errors.Is(err, os.ErrPermission) {
			t.Errorf("%s: %v", what, err)
		}
	}
	r, err := newRules(landlock())
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(r.fd)
	if err := r.allow("/none/there", onlyRead); !errors.Is(err, unix.ENOENT) {
		t.Error(err)
	}
	if err := r.add(-1, onlyRead); err == nil {
		t.Error("a rule of no file")
	}
	if err := enclose("/none/there", nil); !errors.Is(err, unix.ENOENT) {
		t.Error(err)
	}
	if _, err := newRules(1000); err != nil {
		t.Error("a newer kernel:", err)
	}
}

// A process that cannot be enclosed compiles nothing.
func TestAProcessThatCannotBeEnclosed(t *testing.T) {
	if !Encloses() {
		t.Skip("the kernel has no Landlock")
	}
	cmd := exec.Command("/proc/self/exe", Argument, "/none/there", "0", "0")
	out, err := cmd.Output()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != exitFailed || !strings.HasPrefix(string(out), "enclose the process: landlock: /none/there: ") {
		t.Errorf("%v, said %q", err, out)
	}
}

// A program is made of files, each named once.
func TestMappedFiles(t *testing.T) {
	files := mapped()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(files, program) || slices.ContainsFunc(files, func(f string) bool { return !strings.HasPrefix(f, "/") }) || !slices.IsSorted(files) {
		t.Errorf("%q", files)
	}
}
