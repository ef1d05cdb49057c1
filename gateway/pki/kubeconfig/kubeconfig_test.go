package kubeconfig

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// here makes an empty directory the working directory and home, so that no
// kubeconfig of the machine is found.
func here(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	t.Setenv("KUBECONFIG", "")
	// client-go reads HOME once, when the package is loaded.
	home := clientcmd.RecommendedHomeFile
	clientcmd.RecommendedHomeFile = filepath.Join(dir, ".kube", "config")
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = home })
	return dir
}

func write(t *testing.T, path, server string) {
	t.Helper()
	if err := Write(path, Admin{Server: server, Token: "t"}); err != nil {
		t.Fatal(err)
	}
}

func TestWrite_ConnectsWithTokenAndTrust(t *testing.T) {
	var token string
	srv := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		token = r.Header.Get("Authorization")
	}))
	defer srv.Close()
	path := filepath.Join(here(t), "sub", FileName)
	admin := Admin{Server: srv.URL, Trust: certPEM(srv.Certificate()), Token: "s3cret"}
	if err := Write(path, admin); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	cfg, from, err := Load(path, nil)
	if err != nil || from != path {
		t.Fatalf("%q %v", from, err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Get(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if token != "Bearer s3cret" {
		t.Errorf("the server got %q", token)
	}
}

func TestWrite_ReplacesWhatDiffersAndTightensTheMode(t *testing.T) {
	path := filepath.Join(here(t), FileName)
	write(t, path, "https://one.example")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "https://one.example")
	if same, _ := os.Stat(path); !os.SameFile(before, same) {
		t.Error("an unchanged file was replaced")
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, path, "https://one.example")
	if after, _ := os.Stat(path); after.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", after.Mode())
	}
	write(t, path, "https://two.example")
	if cfg, _, err := Load(path, nil); err != nil || cfg.Host != "https://two.example" {
		t.Errorf("%v %v", cfg, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".admin*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files left: %v %v", left, err)
	}
}

func TestLoad_Order(t *testing.T) {
	dir := here(t)
	if _, _, err := Load("", nil); !errors.Is(err, ErrNone) {
		t.Fatalf("nothing there: %v", err)
	}
	check := func(explicit, want string) {
		t.Helper()
		cfg, from, err := Load(explicit, nil)
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Host != want || from == "" {
			t.Errorf("got %s from %s, want %s", cfg.Host, from, want)
		}
	}
	write(t, filepath.Join(dir, DefaultDataDir, FileName), "https://data-dir")
	check("", "https://data-dir")
	if names, err := Contexts(""); err != nil || len(names) != 1 {
		t.Errorf("contexts of the data directory: %v, %v", names, err)
	}
	write(t, clientcmd.RecommendedHomeFile, "https://home")
	check("", "https://home")
	write(t, filepath.Join(dir, "env"), "https://env")
	t.Setenv("KUBECONFIG", filepath.Join(dir, "env"))
	check("", "https://env")
	write(t, filepath.Join(dir, "flag"), "https://flag")
	check(filepath.Join(dir, "flag"), "https://flag")
}

// The token in the data directory is for the gateway that was started there: a
// server that is named on the command line is not sent it, unless a kubeconfig is
// named, too.
func TestLoad_KeepsTheTokenOfThePresentFolderFromOtherServers(t *testing.T) {
	dir := here(t)
	path := filepath.Join(dir, DefaultDataDir, FileName)
	write(t, path, "https://data-dir")
	other := &clientcmd.ConfigOverrides{ClusterInfo: clientcmdapi.Cluster{Server: "https://other"}}
	load := func(explicit, token string) {
		t.Helper()
		cfg, from, err := Load(explicit, other)
		if err != nil || cfg.Host != "https://other" || cfg.BearerToken != token || (from == "") != (token == "") {
			t.Errorf("from %q: %v, %v", from, cfg, err)
		}
	}
	load("", "")
	load(path, "t")
	t.Setenv("KUBECONFIG", path)
	load("", "t")
	t.Setenv("KUBECONFIG", "")
	if cfg, _, err := Load("", nil); err != nil || cfg.BearerToken != "t" {
		t.Errorf("without a server: %v, %v", cfg, err)
	}
}

// What lies in the present folder is used only as it was written there, and
// never to run anything.
func TestLoad_DistrustsThePresentFolder(t *testing.T) {
	const head = "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: https://evil}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
	const token = head + "users: [{name: u, user: {token: t}}]\n"
	for name, c := range map[string]struct {
		content      string
		mode, folder os.FileMode
		owner        int
		ofFolder     bool
		want         string
	}{
		"as it was written":   {token, 0o600, 0o700, 0, false, ""},
		"a usual folder":      {token, 0o600, 0o755, 0, false, ""},
		"a program":           {head + "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: evil, interactiveMode: Never}}}]\n", 0o600, 0o700, 0, false, "runs a program"},
		"a provider":          {head + "users: [{name: u, user: {auth-provider: {name: oidc}}}]\n", 0o600, 0o700, 0, false, "runs a program"},
		"a user beside it":    {head + "users: [{name: u, user: {token: t}}, {name: v, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: evil, interactiveMode: Never}}}]\n", 0o600, 0o700, 0, false, `user "v" runs a program`},
		"readable by others":  {token, 0o644, 0o700, 0, false, "has mode 0644"},
		"writable by others":  {token, 0o620, 0o700, 0, false, "has mode 0620"},
		"an open folder":      {token, 0o600, 0o777, 0, false, "has mode 0777"},
		"of somebody else":    {token, 0o600, 0o700, 12345, false, "belongs to user 12345"},
		"in a foreign folder": {token, 0o600, 0o700, 12345, true, "belongs to user 12345"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := here(t)
			path := filepath.Join(dir, DefaultDataDir, FileName)
			write(t, path, "https://replaced")
			if err := errors.Join(os.WriteFile(path, []byte(c.content), 0o600), os.Chmod(path, c.mode), os.Chmod(filepath.Dir(path), c.folder)); err != nil {
				t.Fatal(err)
			}
			if c.owner != 0 {
				if os.Geteuid() != 0 {
					t.Skip("only root can give files away")
				}
				if c.ofFolder {
					path = filepath.Dir(path)
				}
				if err := os.Chown(path, c.owner, -1); err != nil {
					t.Fatal(err)
				}
			}
			_, _, err := Load("", nil)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			// Who names the file decides for himself.
			if _, _, err := Load(filepath.Join(dir, DefaultDataDir, FileName), nil); err != nil && name != "a provider" {
				t.Errorf("named: %v", err)
			}
		})
	}
}

func TestLoad_Errors(t *testing.T) {
	dir := here(t)
	write(t, filepath.Join(dir, DefaultDataDir, FileName), "https://data-dir") // is not used instead
	write(t, filepath.Join(dir, "there"), "https://there")
	mistyped, none := filepath.Join(dir, "mistyped"), filepath.Join(dir, "void")
	if err := os.WriteFile(none, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	list := func(files ...string) string { return strings.Join(files, string(os.PathListSeparator)) }
	for env, want := range map[string]string{
		mistyped:                               mistyped,
		list(mistyped, none):                   mistyped,
		none:                                   none,
		dir:                                    dir,
		filepath.Join(none, "below"):           none,
		list(filepath.Join(dir, "there"), dir): dir,
	} {
		t.Setenv("KUBECONFIG", env)
		if cfg, _, err := Load("", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("KUBECONFIG is %s: %v %v", env, cfg, err)
		}
	}
	t.Setenv("KUBECONFIG", list(mistyped, filepath.Join(dir, "there")))
	if cfg, _, err := Load("", nil); err != nil || cfg.Host != "https://there" {
		t.Errorf("one of two files is missing: %v %v", cfg, err)
	}
	if _, _, err := Load(filepath.Join(dir, "none"), nil); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("missing file: %v", err)
	}
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(bad, nil); err == nil {
		t.Error("a malformed file was accepted")
	}
	if err := os.WriteFile(bad, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(bad, nil); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("empty file: %v", err)
	}
}

func certPEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}
