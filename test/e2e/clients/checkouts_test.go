package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// checkout returns the folder of a client that no package manager installs here: the
// environment variable names a clone of its repository. Without one the test is
// skipped, in CI too, which cannot clone it.
func checkout(t *testing.T, variable, repository, probe string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skipf("%s is not set; it names a clone of %s, as docs/clients.md has it", variable, repository)
	}
	if _, err := os.Stat(filepath.Join(dir, probe)); err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return dir
}

// TestRuby_CLI01 drives a server with a clone of github.com/kubernetes-client/ruby.
func TestRuby_CLI01(t *testing.T) {
	t.Parallel()
	dir := checkout(t, "WASMGATE_CLIENT_RUBY", "https://github.com/kubernetes-client/ruby", "kubernetes/lib")
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("Ruby is absent; install it with: apt-get install ruby ruby-typhoeus")
	}
	s := newServer(t)
	lib := filepath.Join(dir, "kubernetes")
	args := []string{"-W0", "-I", filepath.Join(lib, "lib"), "-I", filepath.Join(lib, "src"), filepath.Join("ruby", "main.rb")}
	program{cmd: command(t, s.Kubeconfig, ruby, append(args, arguments(t, s)...)...), grant: s.grant}.run(t)
}

// TestPerl_CLI01 drives a server with a clone of github.com/kubernetes-client/perl, at the
// last commit that has all of it.
func TestPerl_CLI01(t *testing.T) {
	t.Parallel()
	dir := checkout(t, "WASMGATE_CLIENT_PERL", "https://github.com/kubernetes-client/perl", "lib/Kubernetes/ApiClient.pm")
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip("Perl is absent; install it with: apt-get install perl")
	}
	s := newServer(t)
	args := []string{"-I", filepath.Join(dir, "lib"), "-I", "perl", filepath.Join("perl", "main.pl")}
	program{cmd: command(t, s.Kubeconfig, perl, append(args, arguments(t, s)...)...), grant: s.grant}.run(t)
}

// TestJava_CLI01 drives a server with a clone of github.com/kubernetes-client/java, which
// java/build.sh has built.
func TestJava_CLI01(t *testing.T) {
	t.Parallel()
	dir := checkout(t, "WASMGATE_CLIENT_JAVA", "https://github.com/kubernetes-client/java", "build/classpath")
	java, err := exec.LookPath("java")
	if _, none := exec.LookPath("javac"); err != nil || none != nil {
		t.Skip("Java is absent; install it with: apt-get install default-jdk-headless")
	}
	text, err := os.ReadFile(filepath.Join(dir, "build", "classpath"))
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob(filepath.Join("java", "*.java"))
	if err != nil {
		t.Fatal(err)
	}
	classes, path := t.TempDir(), string(text)
	if out, err := exec.Command("javac", append([]string{"-nowarn", "-d", classes, "-cp", path}, sources...)...).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	s := newServer(t)
	program{cmd: command(t, s.Kubeconfig, java, append([]string{"-cp", classes + ":" + path, "Main"}, arguments(t, s)...)...), grant: s.grant}.run(t)
}

// TestC_CLI01 drives a server with a clone of github.com/kubernetes-client/c, whose
// library is in the folder kubernetes/build.
func TestC_CLI01(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(checkout(t, "WASMGATE_CLIENT_C", "https://github.com/kubernetes-client/c", "kubernetes/build/libkubernetes.so"), "kubernetes")
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is absent; install it with: apt-get install gcc libcurl4-openssl-dev")
	}
	sources, err := filepath.Glob(filepath.Join("c", "*.c"))
	if err != nil {
		t.Fatal(err)
	}
	binary, library := filepath.Join(t.TempDir(), "client"), filepath.Join(dir, "build")
	args := append(sources, "-D_GNU_SOURCE", "-Wall", "-o", binary, "-L", library, "-Wl,-rpath,"+library, "-lkubernetes")
	for _, name := range []string{"api", "config", "external", "include", "model", "watch"} {
		args = append(args, "-I", filepath.Join(dir, name))
	}
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	s := newServer(t)
	program{cmd: command(t, s.Kubeconfig, binary, arguments(t, s)...), grant: s.grant}.run(t)
}

// TestDotnet_CLI01 drives a server with the program of the folder dotnet, which has been
// published to the folder that the environment variable names, with the client beside it.
func TestDotnet_CLI01(t *testing.T) {
	t.Parallel()
	const variable = "WASMGATE_CLIENT_DOTNET"
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skipf("%s is not set; it names the folder that the program was published to, as docs/clients.md has it", variable)
	}
	for _, name := range []string{"clients.dll", "clients.runtimeconfig.json", "KubernetesClient.dll"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
	}
	dotnet, err := exec.LookPath("dotnet")
	if err != nil {
		t.Skip(".NET is absent; docs/clients.md says what is needed")
	}
	s := newServer(t)
	program{cmd: command(t, s.Kubeconfig, dotnet, append([]string{filepath.Join(dir, "clients.dll")}, arguments(t, s)...)...), grant: s.grant}.run(t)
}

// TestHaskell_CLI01 drives a server with a clone of github.com/kubernetes-client/haskell,
// which haskell/build.sh has built.
func TestHaskell_CLI01(t *testing.T) {
	t.Parallel()
	dir := checkout(t, "WASMGATE_CLIENT_HASKELL", "https://github.com/kubernetes-client/haskell", "build/packages/package.cache")
	ghc, err := exec.LookPath("ghc")
	if err != nil {
		t.Skip("GHC is absent; install it with: apt-get install ghc")
	}
	sources, err := filepath.Glob(filepath.Join("haskell", "*.hs"))
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	binary := filepath.Join(out, "client")
	args := append(sources, "-v0", "-O0", "-package-db", filepath.Join(dir, "build", "packages"), "-outputdir", out, "-o", binary)
	if text, err := exec.Command(ghc, args...).CombinedOutput(); err != nil {
		t.Fatalf("ghc: %v\n%s", err, text)
	}
	s := newServer(t)
	args = arguments(t, s)
	for i := 2; i < len(args); i++ {
		args[i] = byName(t, args[i])
	}
	program{cmd: command(t, byName(t, s.Kubeconfig), binary, args...), grant: s.grant}.run(t)
}
