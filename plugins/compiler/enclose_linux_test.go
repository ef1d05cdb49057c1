package compiler

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// attackFrom is what a compiler that a module has taken over tries: its arguments
// are its folder, a secret file, an address that listens, and a process. It says
// what it could do.
func attackFrom(args []string) int {
	dir, secret, address, pid := args[0], args[1], args[2], args[3]
	if len(args) == 4 {
		if err := enclose(dir, append(append([]string{attack}, args...), enclosed)); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	try := func(what string, err error) {
		if err == nil {
			fmt.Println(what)
		}
	}
	_, err := os.ReadFile(secret)
	try("read the secret", err)
	_, err = os.ReadDir(filepath.Dir(secret))
	try("list its folder", err)
	try("write beside it", os.WriteFile(secret+"2", nil, 0o600))
	try("remove it", os.Remove(secret))
	try("link it", os.Link(secret, filepath.Join(dir, "link")))
	_, err = os.ReadFile("/proc/" + pid + "/environ")
	try("read the environment of the gateway", err)
	conn, err := net.Dial("tcp", address)
	if try("connect", err); err == nil {
		_ = conn.Close()
	}
	id, _ := strconv.Atoi(pid)
	try("signal the gateway", syscall.Kill(id, 0))
	try("run another program", exec.Command("/bin/sh", "-c", "true").Run())
	own := filepath.Join(dir, "sub", "own")
	try("make a folder of its own", os.Mkdir(filepath.Dir(own), 0o700))
	try("write a file of its own", os.WriteFile(own+"1", []byte("x"), 0o600))
	try("rename it", os.Rename(own+"1", own))
	_, err = os.ReadFile(own)
	try("read it", err)
	return 0
}

// A compiler that a module has taken over reads no file of the gateway, reaches no
// network and no process; what compiling needs it can do.
func TestAnEnclosedCompilerReachesNothing(t *testing.T) {
	if !Encloses() {
		t.Skip("this kernel has no Landlock")
	}
	secret := filepath.Join(t.TempDir(), "ca.key")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	own := []string{"make a folder of its own", "write a file of its own", "rename it", "read it"}
	all := slices.Concat([]string{"read the secret", "list its folder", "write beside it", "remove it", "read the environment of the gateway", "connect",
		"signal the gateway", "run another program"}, own)
	version := landlock()
	if version < 4 {
		own = append([]string{"connect"}, own...)
	}
	if version < 6 {
		own = append([]string{"signal the gateway"}, own...)
	}
	run := func(more ...string) []string {
		t.Helper()
		args := append([]string{attack, t.TempDir(), secret, listener.Addr().String(), strconv.Itoa(os.Getpid())}, more...)
		cmd := exec.Command("/proc/self/exe", args...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	missing := func(want, got []string) (missing []string) {
		for _, w := range want {
			if !slices.Contains(got, w) {
				missing = append(missing, w)
			}
		}
		return missing
	}
	if got := run(); len(missing(own, got)) > 0 || len(missing(got, own)) > 0 {
		t.Errorf("it could %q", got)
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
		t.Errorf("the secret is %q, %v", text, err)
	}
	// The attacks are real: whoever is not enclosed can do all that.
	if got := missing(all, run(enclosed)); len(got) > 0 {
		t.Errorf("without that it cannot %q either", got)
	}
}
