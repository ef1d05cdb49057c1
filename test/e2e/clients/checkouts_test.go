package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// installed returns the folder of a client that CI does not install: the environment
// variable names it. Without one the test is skipped. What probe is like has to be in it.
func installed(t *testing.T, variable, what, probe string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skipf("%s is not set; it names %s, as docs/clients.md has it", variable, what)
	}
	if found, err := filepath.Glob(filepath.Join(dir, probe)); err != nil || len(found) == 0 {
		t.Fatalf("%s: there is no %s in %s: %v", variable, probe, dir, err)
	}
	return dir
}

// TestRuby_CLI01 drives a server with a clone of github.com/kubernetes-client/ruby.
func TestRuby_CLI01(t *testing.T) {
	t.Parallel()
	dir := installed(t, "WASMGATE_CLIENT_RUBY", "a clone of https://github.com/kubernetes-client/ruby", "kubernetes/lib")
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
	dir := installed(t, "WASMGATE_CLIENT_PERL", "a clone of https://github.com/kubernetes-client/perl", "lib/Kubernetes/ApiClient.pm")
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip("Perl is absent; install it with: apt-get install perl")
	}
	s := newServer(t)
	args := []string{"-I", filepath.Join(dir, "lib"), "-I", "perl", filepath.Join("perl", "main.pl")}
	program{cmd: command(t, s.Kubeconfig, perl, append(args, arguments(t, s)...)...), grant: s.grant}.run(t)
}

// TestJava_CLI01 drives a server with the jars of a folder, those of the client and of what it
// needs.
func TestJava_CLI01(t *testing.T) {
	t.Parallel()
	path := filepath.Join(installed(t, "WASMGATE_CLIENT_JAVA", "a folder with client-java's jars", "*.jar"), "*")
	java, err := exec.LookPath("java")
	if _, none := exec.LookPath("javac"); err != nil || none != nil {
		t.Skip("Java is absent; install it with: apt-get install default-jdk-headless")
	}
	sources, err := filepath.Glob(filepath.Join("java", "*.java"))
	if err != nil {
		t.Fatal(err)
	}
	classes := t.TempDir()
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
	dir := filepath.Join(installed(t, "WASMGATE_CLIENT_C", "a clone of https://github.com/kubernetes-client/c that was built", "kubernetes/build/libkubernetes.so"), "kubernetes")
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
	dir := installed(t, "WASMGATE_CLIENT_DOTNET", "the folder that the program was published to", "KubernetesClient.dll")
	dotnet, err := exec.LookPath("dotnet")
	if err != nil {
		t.Skip(".NET is absent; docs/clients.md says what is needed")
	}
	s := newServer(t)
	program{cmd: command(t, s.Kubeconfig, dotnet, append([]string{filepath.Join(dir, "clients.dll")}, arguments(t, s)...)...), grant: s.grant}.run(t)
}

// TestHaskell_CLI01 drives a server with a client that is in a database of packages.
func TestHaskell_CLI01(t *testing.T) {
	t.Parallel()
	dir := installed(t, "WASMGATE_CLIENT_HASKELL", "GHC's database of packages that has kubernetes-client", "package.cache")
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
	args := append(sources, "-v0", "-O0", "-package-db", dir, "-outputdir", out, "-o", binary)
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
