package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmgate/wasmgate/gateway/server/offline"
)

// terminal is one on which somebody has typed something.
func terminal(t *testing.T, typed string) *os.File {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this machine lets nobody have a terminal: ", err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	if _, err := keyboard.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	return screen
}

// Without a password in the environment it is asked for on a terminal, twice where it is
// chosen.
func TestPasswordsAreTyped(t *testing.T) {
	t.Setenv(passwordVariable, "x")
	if err := os.Unsetenv(passwordVariable); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.wasm"), []byte("\x00asm\x01\x00\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typed, args string
		exit        int
		want        string
	}{
		{"open\nopen\n", "keygen @a --encrypt", 0, "a.key: \nThe same again: \n"},
		{"open\nOpen\n", "keygen @b --encrypt", 2, "the passwords are not the same"},
		{"\n\n", "keygen @b --encrypt", 2, "the password is empty"},
		{"open\n", "sign @m.wasm --key @a.key", 0, "a.key: \n"},
		{"Open\n", "sign @m.wasm --key @a.key", 2, "it cannot be decrypted by this password"},
	} {
		root := New(Parts{Tools: &bench{Signing: offline.Tools{}}})
		var printed bytes.Buffer
		root.SetIn(terminal(t, c.typed))
		root.SetOut(&printed)
		root.SetErr(&printed)
		root.SetArgs(append([]string{"module"}, strings.Fields(strings.ReplaceAll(c.args, "@", dir+"/"))...))
		cmd, err := root.ExecuteContextC(t.Context())
		out := printed.String()
		if err != nil {
			out += err.Error()
		}
		if exit := exitStatus(cmd, err); exit != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("%s: %d, %q", c.args, exit, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "b.key")); err == nil {
		t.Error("a key is written whose password nobody knows")
	}
}
