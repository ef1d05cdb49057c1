package encryption

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/test/keyservice"
)

// begins is how a value is kept now.
func begins(t *testing.T, e *Encryption) string {
	t.Helper()
	kept, err := e.ToStorage(t.Context(), secretKey, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitAfterN(string(kept), ":", 6)
	return strings.Join(parts[:len(parts)-1], "")
}

// TestReload looks at the file as Run does, at times of its own.
func TestReload(t *testing.T) {
	path := configFile(t, of("secrets", provider("aesgcm", "1", key1)))
	e := mustLoad(t, path)
	now := time.Now()
	step := func(what string, changes bool, want string) {
		t.Helper()
		if got := e.look(t.Context(), now); got != changes {
			t.Errorf("%s: changed %t", what, got)
		}
		if got := begins(t, e); got != want {
			t.Errorf("%s: kept as %s, want %s", what, got, want)
		}
	}
	const one, two = "k8s:enc:aesgcm:v1:1:", "k8s:enc:secretbox:v1:2:"
	step("unchanged", false, one)
	kept, err := e.ToStorage(t.Context(), secretKey, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, of("secrets", provider("aesgcm", "1", "c2hvcnQ=")))
	step("a bad key", false, one)
	step("the same again", false, one)
	write(t, path, "")
	step("an empty file", false, one)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	step("no file", false, one)
	write(t, path, of("secrets", provider("aesgcm", "1", key1)))
	step("the file that is in force", false, one)
	write(t, path, of("secrets", provider("secretbox", "2", key2)+", "+provider("aesgcm", "1", key1)))
	step("another file", true, two)
	step("the same again", false, two)
	if plain, stale, err := e.FromStorage(t.Context(), secretKey, kept); string(plain) != "{}" || !stale || err != nil {
		t.Errorf("what was written before is read as %q, stale %t, %v", plain, stale, err)
	}
	m := metrics.New()
	m.IncludeLibrary(Families...)
	text, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`apiserver_encryption_config_controller_automatic_reloads_total{apiserver_id_hash="sha256:`, `",status="failure"} 3`, `",status="success"} 1`,
		`apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds{apiserver_id_hash="sha256:`,
		`apiserver_encryption_config_controller_last_config_info{apiserver_id_hash="sha256:`, e.hash,
		`apiserver_storage_transformation_operations_total{resource="secrets",status="OK",transformation_type="to_storage",transformer_prefix="k8s:enc:secretbox:v1:"}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

// socketPath is where a socket may be: such paths are short.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kms")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// TestRetries: a file that cannot be used is tried again, but not all the time, as what
// it names may come to be.
func TestRetries(t *testing.T) {
	path := configFile(t, of("secrets", provider("aesgcm", "1", key1)))
	e := mustLoad(t, path)
	now := time.Now()
	socket := socketPath(t)
	write(t, path, of("secrets", "{kms: {apiVersion: v2, name: s, endpoint: 'unix://"+socket+"'}}"))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if e.look(gone, now) || begins(t, e) != "k8s:enc:aesgcm:v1:1:" {
		t.Error("a key service that is not there is used")
	}
	stop, err := keyservice.New("k").Serve(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if e.look(t.Context(), now.Add(retryEvery-1)) {
		t.Error("it was tried again at once")
	}
	if !e.look(t.Context(), now.Add(retryEvery)) {
		t.Error("it was not tried again")
	}
	if got := begins(t, e); got != "k8s:enc:kms:v2:s:" {
		t.Errorf("kept as %s", got)
	}
}

// TestRun: changes come into force by themselves, and values are tried again then.
func TestRun(t *testing.T) {
	path := configFile(t, of("secrets", "{identity: {}}"))
	e := mustLoad(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	ended, rechecked := make(chan struct{}), make(chan struct{}, 1)
	go func() {
		defer close(ended)
		e.Run(ctx, func(context.Context) {
			select {
			case rechecked <- struct{}{}:
			default:
			}
		})
	}()
	write(t, path, of("secrets", provider("aesgcm", "1", key1)))
	select {
	case <-rechecked:
	case <-time.After(time.Minute):
		t.Fatal("the file does not come into force")
	}
	if got := begins(t, e); got != "k8s:enc:aesgcm:v1:1:" {
		t.Errorf("kept as %s", got)
	}
	cancel()
	<-ended
}

// TestKeyService reads what kube-apiserver 1.36.3 wrote with a key service, writes with
// one, and does without it for a while.
func TestKeyService(t *testing.T) {
	socket := socketPath(t)
	service := keyservice.New("other", "key")
	stop, err := service.Serve(socket)
	if err != nil {
		t.Fatal(err)
	}
	config := configFile(t, of("'*.'", "{kms: {apiVersion: v2, name: service, endpoint: 'unix://"+socket+"', timeout: 500ms}}"))
	e := mustLoad(t, config)
	if err := e.Healthy(t.Context()); err != nil || !e.Probed() {
		t.Errorf("healthy: %v, probed %t", err, e.Probed())
	}
	for _, v := range fixture[[]struct {
		Key, Shows string
		Stored     []byte
	}](t, "kube-apiserver-kms.json") {
		if plain, _, err := e.FromStorage(t.Context(), "/registry/configmaps/default/a", v.Stored); err == nil {
			t.Errorf("as another object it is read as %q", plain)
		}
		// Its data key is another than this process's: that is stale only if the key
		// of the service is.
		if plain, stale, err := e.FromStorage(t.Context(), v.Key, v.Stored); err != nil || stale || !strings.Contains(string(plain), v.Shows) {
			t.Errorf("%q, stale %t, %v", plain, stale, err)
		}
	}
	kept, err := e.ToStorage(t.Context(), secretKey, []byte("{}"))
	if err != nil || !strings.HasPrefix(string(kept), "k8s:enc:kms:v2:service:") {
		t.Errorf("%q, %v", kept, err)
	}
	stop()
	if plain, _, err := e.FromStorage(t.Context(), secretKey, kept); err != nil || string(plain) != "{}" {
		t.Errorf("without the service, with its data key: %q, %v", plain, err)
	}
	without, err := load(t, config) // a start does not wait for the service
	if err != nil {
		t.Fatal(err)
	}
	if err := without.Healthy(t.Context()); err == nil {
		t.Error("it is healthy without a key service")
	}
	if _, _, err := without.FromStorage(t.Context(), secretKey, kept); err == nil {
		t.Error("it is read without a key")
	}
	if _, err := without.ToStorage(t.Context(), secretKey, []byte("{}")); err == nil {
		t.Error("it is written without a key")
	}
}
