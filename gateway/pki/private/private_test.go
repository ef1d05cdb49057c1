package private

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func made(t *testing.T, folder bool, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	var err error
	if folder {
		err = os.Mkdir(path, 0o700)
	} else {
		err = os.WriteFile(path, []byte("content"), 0o600)
	}
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestModes(t *testing.T) {
	for _, c := range []struct {
		mode           os.FileMode
		folder, secret bool
	}{
		{0o700, true, true}, {0o600, true, true}, {0o500, true, true}, {0o755, true, false}, {0o750, true, false}, {0o710, true, false},
		{0o701, true, false}, {0o770, false, false}, {0o720, false, false}, {0o702, false, false}, {0o777, false, false},
	} {
		if err := Folder(made(t, true, c.mode)); (err == nil) != c.folder || err != nil && !errors.Is(err, ErrForeign) {
			t.Errorf("folder %04o: %v", c.mode, err)
		}
		if err := Secret(made(t, false, c.mode)); (err == nil) != c.secret || err != nil && !errors.Is(err, ErrForeign) {
			t.Errorf("secret %04o: %v", c.mode, err)
		}
	}
}

func TestOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	file, folder := made(t, false, 0o600), made(t, true, 0o700)
	for _, path := range []string{file, folder} {
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Fatal(err)
		}
	}
	_, open := Open(file)
	for name, err := range map[string]error{"folder": Folder(folder), "secret": Secret(file), "open": open} {
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "belongs to user 12345") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParent(t *testing.T) {
	for mode, want := range map[os.FileMode]bool{
		0o700: true, 0o755: true, 0o770: false, 0o777: false, 0o777 | os.ModeSticky: true, 0o770 | os.ModeSticky: true,
	} {
		if err := Parent(made(t, true, mode)); (err == nil) != want || err != nil && !errors.Is(err, ErrForeign) {
			t.Errorf("%v: %v", mode, err)
		}
	}
	if err := Parent(made(t, false, 0o600)); err == nil {
		t.Error("a file is a parent")
	}
	if err := Parent(made(t, false, 0o600|os.ModeSticky)); err == nil {
		t.Error("a sticky file is a parent")
	}
	if err := Parent(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
	switch root := Parent("/"); os.Geteuid() {
	case 0:
		foreign := made(t, true, 0o777|os.ModeSticky)
		if err := os.Chown(foreign, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if err := Parent(foreign); !errors.Is(err, ErrForeign) {
			t.Errorf("of somebody else: %v", err)
		}
	default:
		if root != nil {
			t.Errorf("of root: %v", root)
		}
	}
}

func TestOpen(t *testing.T) {
	f, err := Open(made(t, false, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(f); err != nil || string(data) != "content" {
		t.Errorf("%q %v", data, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(made(t, false, 0o640)); !errors.Is(err, ErrForeign) {
		t.Errorf("readable by others: %v", err)
	}
	if _, err := Open(made(t, true, 0o700)); err == nil || errors.Is(err, ErrForeign) {
		t.Errorf("a folder: %v", err)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	_, open := Open(none)
	for name, err := range map[string]error{"folder": Folder(none), "secret": Secret(none), "open": open} {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Folder(made(t, false, 0o600)); err == nil || errors.Is(err, ErrForeign) {
		t.Errorf("a file as a folder: %v", err)
	}
}
