package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// isSelf tells whether a file is the program that runs.
func isSelf(t *testing.T, file string) bool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(self)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(file)
	return err == nil && (os.SameFile(want, got) || got.Size() == want.Size() && got.Mode()&0o111 != 0)
}

// The folder has this program under two names, and kubectl, and what was there of them
// before is replaced where that was asked for.
func TestEnvtest_MakesAFolder(t *testing.T) {
	tool(t, "kubectl", "")
	kubectl := filepath.Join(os.Getenv("PATH"), "kubectl")
	dir := filepath.Join(t.TempDir(), "it's", "new")
	for _, args := range [][]string{{dir}, {dir, "--replace"}} {
		out, err := command(t, append([]string{"envtest"}, args...)...)
		if want := "export KUBEBUILDER_ASSETS='" + strings.ReplaceAll(dir, "'", `'\''`) + "'\n"; err != nil || out != want {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		for _, name := range standIns {
			if !isSelf(t, filepath.Join(dir, name)) {
				t.Errorf("%q: %s is another program", args, name)
			}
			// What a run that was killed left is in nobody's way.
			if err := os.WriteFile(filepath.Join(dir, name+".new"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if to, err := os.Readlink(filepath.Join(dir, "kubectl")); err != nil || to != kubectl {
			t.Errorf("%q: kubectl is %s, %v", args, to, err)
		}
	}
	// A folder that is on the path has a kubectl already.
	t.Setenv("PATH", dir)
	if _, err := command(t, "envtest", dir, "--replace"); err != nil {
		t.Error(err)
	}
	if to, err := os.Readlink(filepath.Join(dir, "kubectl")); err != nil || to != kubectl {
		t.Errorf("its kubectl is %s, %v", to, err)
	}
}

// Without a directory it is one of the user's cache, in which programs are replaced.
func TestEnvtest_InTheCache(t *testing.T) {
	tool(t, "", "")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "c"))
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "wasmgate", "envtest")
	for range 2 {
		out, err := command(t, "envtest")
		if want := "There is no kubectl on the PATH: tests that ask envtest for it will not find it.\nexport KUBEBUILDER_ASSETS='" + dir + "'\n"; err != nil || out != want {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if !isSelf(t, filepath.Join(dir, "etcd")) || !isSelf(t, filepath.Join(dir, "kube-apiserver")) {
		t.Error("other programs")
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	if _, err := command(t, "envtest"); err == nil || !strings.Contains(err.Error(), "name a directory") {
		t.Errorf("no cache: %v", err)
	}
}

// What cannot be a folder of programs is refused, and nothing is left half made.
func TestEnvtest_Refuses(t *testing.T) {
	tool(t, "kubectl", "")
	file := written(t, "f", "text")
	there := t.TempDir()
	if err := os.Symlink("none", filepath.Join(there, "kubectl")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		file:                         " is a file: name a directory",
		filepath.Join(file, "below"): "not a directory",
		there:                        "kubectl is there already: name another directory, or say --replace",
	} {
		if out, err := command(t, "envtest", dir); err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%s: %v\n%s", dir, err, out)
		}
	}
	if left, err := filepath.Glob(filepath.Join(there, "*.new")); err != nil || len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "text" {
		t.Errorf("the file: %q %v", text, err)
	}
}

// What is in the way of a program is told, and the program that was there stays.
func TestEnvtest_WhatIsInTheWay(t *testing.T) {
	tool(t, "kubectl", "")
	for _, name := range []string{"etcd", "etcd.new", "kubectl", "kubectl.new"} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, name, "full"), 0o700); err != nil {
			t.Fatal(err)
		}
		if out, err := command(t, "envtest", dir, "--replace"); err == nil || !strings.Contains(err.Error(), name+": directory not empty") || out != "" {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	there := written(t, "there", "text")
	if err := place(filepath.Join(t.TempDir(), "none"), there, true); !os.IsNotExist(err) {
		t.Errorf("of nothing: %v", err)
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "text" {
		t.Errorf("the file: %q %v", text, err)
	}
}

// A copy can be run as what it is of, and no file that is there is written to.
func TestProgramsAreCopied(t *testing.T) {
	from, to := written(t, "a", "program"), filepath.Join(t.TempDir(), "b")
	if err := copyProgram(from, to); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(to)
	if err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if text, _ := os.ReadFile(to); string(text) != "program" {
		t.Errorf("%q", text)
	}
	if err := copyProgram(from, to); !os.IsExist(err) {
		t.Errorf("over a file: %v", err)
	}
	if err := copyProgram(to+"none", to+"c"); !os.IsNotExist(err) {
		t.Errorf("of nothing: %v", err)
	}
	if err := place(from, to+"d", false); err != nil {
		t.Errorf("%v", err)
	}
	if err := place(from, filepath.Join(to, "e"), true); err == nil {
		t.Error("below a file")
	}
}
