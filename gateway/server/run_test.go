package server

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/options"
)

const configMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kept"},"data":{"a":"b"}}`

// A gateway that is stopped leaves a directory that the next one starts from,
// in the same process too: nothing of it still runs.
func TestRun_StartsAndStopsOnTheSameData_PER01(t *testing.T) {
	o := servingIn(filepath.Join(t.TempDir(), "data"))
	first := start(t, o)
	made := first.do("POST", "/api/v1/namespaces/default/configmaps", configMap)
	if made.code != http.StatusCreated {
		t.Fatalf("%d %s", made.code, made.body)
	}
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	second := start(t, o)
	if second.token != first.token {
		t.Error("the administrator's token changed")
	}
	if got := second.do("GET", "/api/v1/namespaces/default/configmaps/kept", ""); got.code != 200 || got.body != made.body {
		t.Errorf("%d %s\nwas %s", got.code, got.body, made.body)
	}
	if err := second.end(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(o.DataDir, "admin.kubeconfig"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig: %v %v", info, err)
	}
}

// folder makes a folder with a mode for a user; 0 is the present one.
func folder(t *testing.T, path string, mode os.FileMode, uid int) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(path, 0o700), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
	if uid == 0 {
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give folders away")
	}
	if err := os.Chown(path, uid, -1); err != nil {
		t.Fatal(err)
	}
}

func TestRun_Refusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, c := range map[string]struct {
		change func(dir string, o *options.Serve)
		want   string
		// clean: nothing was made in the data directory
		clean bool
	}{
		"bad flags": {func(_ string, o *options.Serve) { o.RequestTimeout, o.EtcdPrefix = 0, "x" }, "--request-timeout", true},
		"port in use": {func(_ string, o *options.Serve) {
			o.SecurePort = taken.Addr().(*net.TCPAddr).Port
		}, "address already in use", true},
		"address of another machine":     {func(_ string, o *options.Serve) { o.BindAddress = "192.0.2.1" }, "--bind-address", true},
		"data directory is a file":       {func(dir string, o *options.Serve) { o.DataDir = write(t, dir+"/file", "") }, "--data-dir", true},
		"data directory open to others":  {func(_ string, o *options.Serve) { folder(t, o.DataDir, 0o777, 0) }, "has mode 0777", true},
		"data directory of another user": {func(_ string, o *options.Serve) { folder(t, o.DataDir, 0o700, 12345) }, "belongs to user 12345", true},
		"keys of another user":           {func(_ string, o *options.Serve) { folder(t, o.DataDir+"/pki", 0o700, 12345) }, "pki belongs to user 12345", false},
		"keys that others see":           {func(_ string, o *options.Serve) { folder(t, o.DataDir+"/pki", 0o755, 0) }, "has mode 0755", false},
		"code of another user":           {func(_ string, o *options.Serve) { folder(t, o.DataDir+"/wasm-cache", 0o700, 12345) }, "wasm-cache belongs to user 12345", true},
		"code that others write":         {func(_ string, o *options.Serve) { folder(t, o.DataDir+"/wasm-cache", 0o775, 0) }, "has mode 0775", true},
		"database of another user":       {func(_ string, o *options.Serve) { folder(t, o.DataDir+"/etcd", 0o700, 12345) }, "etcd belongs to user 12345", true},
		"token file missing":             {func(dir string, o *options.Serve) { o.TokenAuthFile = dir + "/none" }, "--token-auth-file", true},
		"token file malformed":           {func(dir string, o *options.Serve) { o.TokenAuthFile = write(t, dir+"/tokens", "a,b\n") }, "line 1", true},
		"client authorities missing":     {func(dir string, o *options.Serve) { o.ClientCAFile = dir + "/none" }, "--client-ca-file", true},
		"certificate missing":            {func(dir string, o *options.Serve) { o.TLSCertFile, o.TLSPrivateKeyFile = dir+"/c", dir+"/k" }, "no such file", true},
		"kubeconfig cannot be written":   {func(dir string, o *options.Serve) { o.WriteKubeconfig = write(t, dir+"/file", "") + "/x" }, "kubeconfig", false},
		"embedded etcd is not an etcd's": {func(dir string, o *options.Serve) { write(t, o.DataDir+"/etcd/member/snap/db", "no database") }, "embedded etcd", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := servingIn(filepath.Join(dir, "data"))
			c.change(dir, &o)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			err := Run(ctx, o, zerolog.Nop(), func(options.Started) { t.Error("started") })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(o.DataDir, "pki")); c.clean && !errors.Is(err, os.ErrNotExist) && name != "data directory is a file" {
				t.Errorf("it made certificates: %v", err)
			}
		})
	}
}

func TestRun_DataDirectoryInUse(t *testing.T) {
	o := servingIn(filepath.Join(t.TempDir(), "data"))
	first := start(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	waits := &giveUp{at: "another process holds the data directory", wait: cancel} // who holds it has a while to leave
	if err := Run(ctx, o, zerolog.New(waits), func(options.Started) { t.Error("started") }); err != nil || !strings.Contains(waits.said, o.DataDir) {
		t.Errorf("got %v after %q", err, waits.said)
	}
	if got := first.do("GET", "/readyz", ""); got.code != 200 {
		t.Errorf("the first gateway: %d %s", got.code, got.body)
	}
}

// giveUp ends a wait once a text is logged.
type giveUp struct {
	at, said string
	wait     context.CancelFunc
}

func (g *giveUp) Write(p []byte) (int, error) {
	if strings.Contains(string(p), g.at) {
		g.said = string(p)
		g.wait()
	}
	return len(p), nil
}

// lines sends what is written to it, line by line, to whoever reads.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// An etcd that does not answer is waited for, and the log says so meanwhile.
func TestRun_SaysThatItWaitsForEtcd(t *testing.T) {
	o := servingIn(filepath.Join(t.TempDir(), "data"))
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	o.EtcdServers = []string{"http://" + silent.Addr().String()}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	said, ended := make(lines, 100), make(chan error, 1)
	go func() { ended <- Run(ctx, o, zerolog.New(said), func(options.Started) { t.Error("started") }) }()
	select {
	case line := <-said:
		if !strings.Contains(line, "connecting") || !strings.Contains(line, o.EtcdServers[0]) {
			t.Errorf("it says %s", line)
		}
	case err := <-ended:
		t.Fatalf("it ended without a word: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("told to stop while it waits: %v", err)
	}
}

// SIGTERM at any moment of the start is a clean end.
func TestRun_StoppedWhileStarting(t *testing.T) {
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 400 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		err := Run(ctx, servingIn(filepath.Join(t.TempDir(), "data")), zerolog.Nop(), func(options.Started) {})
		cancel()
		if err != nil {
			t.Errorf("stopped after %s: %v", after, err)
		}
	}
}

// While the gateway drains, /readyz fails and everything else goes on; then
// watches end cleanly.
func TestRun_Shutdown_HLT05(t *testing.T) {
	o := servingIn(filepath.Join(t.TempDir(), "data"))
	o.ShutdownDelay = 10 * time.Second // in which all that follows has to happen
	g := start(t, o)
	req, err := http.NewRequest("GET", g.url+"/api/v1/namespaces?watch=1&resourceVersion=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+g.token)
	watch, err := g.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	if got := g.do("GET", "/readyz", ""); got.code != 200 {
		t.Fatalf("%d %s", got.code, got.body)
	}
	g.stop()
	for code := 200; code == 200; { // until the signal has arrived
		got := g.do("GET", "/readyz", "")
		if code = got.code; code != 200 && (code != 500 || !strings.Contains(got.body, "[-]shutdown failed")) {
			t.Errorf("%d %s", code, got.body)
		}
	}
	if got := g.do("GET", "/livez", ""); got.code != 200 {
		t.Errorf("livez: %d %s", got.code, got.body)
	}
	if got := g.do("POST", "/api/v1/namespaces/default/configmaps", configMap); got.code != http.StatusCreated {
		t.Errorf("a write while draining: %d %s", got.code, got.body)
	}
	lines := bufio.NewScanner(watch.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"type":"ERROR"`) {
			t.Errorf("the watch ended with %s", lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the watch broke: %v", err)
	}
	if err := g.end(); err != nil {
		t.Error(err)
	}
}
