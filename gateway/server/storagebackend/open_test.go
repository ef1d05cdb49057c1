package storagebackend

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/test/harness"
)

// embedded opens a store inside this process that others reach at a URL.
func embedded(t *testing.T) (s Store, url string) {
	t.Helper()
	o := options.Default()
	o.DataDir, o.EmbeddedEtcdClientURL = t.TempDir(), "http://127.0.0.1:"+harness.Port(t)
	s, end, err := Open(t.Context(), o, metrics.New(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return s, o.EmbeddedEtcdClientURL
}

// elsewhere opens a store at a URL, and closes it.
func elsewhere(t *testing.T, url string, change func(*options.Serve)) (string, error) {
	t.Helper()
	o := options.Default()
	o.DataDir, o.EtcdServers = t.TempDir(), []string{url}
	change(&o)
	var said strings.Builder
	s, end, err := Open(t.Context(), o, metrics.New(), zerolog.New(&said))
	if err != nil {
		return said.String(), err
	}
	return said.String(), errors.Join(s.Healthy(t.Context()), end())
}

// A store that a kube-apiserver serves is left alone, unless that is meant.
func TestOthersServeTheStore(t *testing.T) {
	s, url := embedded(t)
	as := func(*options.Serve) {}
	for _, key := range []string{"/registry/masterleases/192.0.2.1", "/registry/peerserverleases/one"} {
		rev, err := s.Create(t.Context(), key, []byte("alive"), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := elsewhere(t, url, as); err == nil || !strings.HasPrefix(err.Error(), "--etcd-servers: a kube-apiserver serves this store below /registry: its lease is "+key) {
			t.Errorf("%s: %v", key, err)
		}
		said, err := elsewhere(t, url, func(o *options.Serve) { o.ShareWithKubeAPIServer = true })
		if err != nil || !strings.Contains(said, "a kube-apiserver serves the same store") || !strings.Contains(said, key) {
			t.Errorf("shared: %v, and the log is %s", err, said)
		}
		if said, err := elsewhere(t, url, func(o *options.Serve) { o.EtcdPrefix = "/elsewhere" }); err != nil || strings.Contains(said, "kube-apiserver") {
			t.Errorf("below another prefix: %v, and the log is %s", err, said)
		}
		if _, err := s.Delete(t.Context(), key, rev); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := elsewhere(t, url, as); err != nil {
		t.Error(err)
	}
}

// What is wrong with how an etcd cluster is reached names the flag.
func TestFlagsOfTheStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for flags, change := range map[string]func(*options.Serve){
		"--etcd-cafile: ":                   func(o *options.Serve) { o.EtcdCAFile = file },
		"--etcd-certfile, --etcd-keyfile: ": func(o *options.Serve) { o.EtcdCertFile, o.EtcdKeyFile = file, file },
	} {
		if _, err := elsewhere(t, "https://127.0.0.1:1", change); err == nil || !strings.HasPrefix(err.Error(), flags) {
			t.Errorf("%q, want %q", err, flags)
		}
		o := options.Default()
		change(&o)
		if err := LookAtFiles(o); err == nil || !strings.HasPrefix(err.Error(), flags) {
			t.Errorf("before: %q, want %q", err, flags)
		}
	}
	if err := LookAtFiles(options.Default()); err != nil {
		t.Error(err)
	}
}

const aesgcm = `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets, wasmmodules.wasmgate.dev]
  providers:
  - aesgcm: {keys: [{name: one, secret: MDEyMzQ1Njc4OWFiY2RlZg==}]}
`

// Objects of the resources that a file names, and what modules are made of, are kept
// encrypted, others as they are; who reads through the same store sees them all.
func TestStoresWithEncryption(t *testing.T) {
	below, _ := embedded(t)
	o := options.Default()
	o.EncryptionProviderConfig = filepath.Join(t.TempDir(), "file")
	if _, err := ReadEncryption(t.Context(), o, "one", zerolog.Nop()); !errors.As(err, new(options.Mistake)) || !strings.HasPrefix(err.Error(), "--encryption-provider-config: ") {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(o.EncryptionProviderConfig, []byte(aesgcm), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := ReadEncryption(t.Context(), o, "one", zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := e.Around(below, metrics.New())
	if err := s.Healthy(t.Context()); err != nil {
		t.Error(err)
	}
	if n, err := s.Size(t.Context()); err != nil || n <= 0 {
		t.Errorf("%d bytes: %v", n, err)
	}
	for key, hidden := range map[string]bool{
		"/registry/secrets/a/b": true, "/registry/wasmgate.dev/wasmmodules/c": true, "/registry/configmaps/a/b": false,
	} {
		if _, err := s.Create(t.Context(), key, []byte(`{"plain":1}`), 0); err != nil {
			t.Fatal(err)
		}
		kept, err := below.Get(t.Context(), key)
		if err != nil || strings.Contains(string(kept.Value), "plain") == hidden {
			t.Errorf("%s is kept as %q: %v", key, kept.Value, err)
		}
		if read, err := s.Get(t.Context(), key); err != nil || string(read.Value) != `{"plain":1}` {
			t.Errorf("%s is read as %q: %v", key, read.Value, err)
		}
	}
}

// Without a file nothing stands between, and nothing is to be asked.
func TestStoresWithoutEncryption(t *testing.T) {
	e, err := ReadEncryption(t.Context(), options.Default(), "one", zerolog.Nop())
	if e != nil || err != nil {
		t.Fatal(e, err)
	}
	if s, r := (struct{ Store }{}), health.New(nil, nil); e.Around(s, nil) != Store(s) {
		t.Error("something stands between")
	} else {
		e.AddCheck(r)
	}
	e.Run(t.Context())
	e.Close()
}

// The log says when the store stops answering, again each minute, and when it is over.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
		defer stop()
		var said strings.Builder
		begun := time.Now()
		Watch(ctx, func(context.Context) error {
			if since := time.Since(begun); since > time.Minute && since < 4*time.Minute-time.Second {
				return errors.New("it is gone")
			}
			return nil
		}, []string{"https://here"}, zerolog.New(&said))
		if n := strings.Count(said.String(), "etcd does not answer"); n != 3 {
			t.Errorf("said %d times: %s", n, &said)
		}
		if n := strings.Count(said.String(), "etcd answers again"); n != 1 || !strings.Contains(said.String(), `"error":"it is gone"`) || !strings.Contains(said.String(), "https://here") {
			t.Errorf("said %d times: %s", n, &said)
		}
	})
}
