package etcd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/storage"
)

// childDir makes the test binary a server to be killed: see TestMain.
const childDir = "WASMGATE_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeUntilKilled prints the key and revision of each acknowledged write.
func writeUntilKilled(dir string) error {
	e, err := StartEmbedded(context.Background(), EmbeddedConfig{Dir: dir})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	run := time.Now().UnixNano()
	for w := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("/t/%d-%d-%d", run, w, i)
				rev, err := e.Store().Create(context.Background(), key, []byte(key), 0)
				if err != nil {
					return
				}
				mu.Lock()
				fmt.Println(key, rev)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.New("writers stopped")
}

func TestKilledServerKeepsAcknowledgedWrites_PER01(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	acked := map[string]int64{}
	for range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if n == 300 {
				_ = cmd.Process.Kill() // what it wrote before is still read
			}
			var key string
			var rev int64
			if _, err := fmt.Sscan(lines.Text(), &key, &rev); err == nil {
				acked[key] = rev
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
	}
	if len(acked) < 900 {
		t.Fatalf("only %d writes acknowledged", len(acked))
	}
	e := start(t, dir)
	seen := map[int64]string{}
	page, err := e.Store().Range(t.Context(), storage.Range{Prefix: "/t/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range page.KVs {
		if want, ok := acked[kv.Key]; ok && want != kv.Revision {
			t.Errorf("%s is at revision %d, was acknowledged at %d", kv.Key, kv.Revision, want)
		}
		if other, twice := seen[kv.Revision]; twice {
			t.Errorf("%s and %s share revision %d", kv.Key, other, kv.Revision)
		}
		seen[kv.Revision] = kv.Key
		delete(acked, kv.Key)
	}
	if len(acked) > 0 {
		t.Errorf("%d acknowledged writes are lost, such as %v", len(acked), firstKey(acked))
	}
}

func firstKey(m map[string]int64) string {
	for k := range m {
		return k
	}
	return ""
}

func TestSecondServerIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	start(t, dir)
	began := time.Now()
	_, err := StartEmbedded(t.Context(), EmbeddedConfig{Dir: dir})
	if !errors.Is(err, ErrDirInUse) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("got %v, want ErrDirInUse naming the directory", err)
	}
	if took := time.Since(began); took > 20*time.Second { // it waits for nobody
		t.Errorf("took %v to say so", took)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory has mode %v (%v), want 0700", info.Mode(), err)
	}
}

func TestEtcdHoldingTheDatabaseIsNoticed(t *testing.T) {
	dir := t.TempDir()
	start(t, dir)
	// Without our lock file only the database's own lock is left to tell.
	if err := os.Remove(filepath.Join(dir, "wasmgate.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := StartEmbedded(t.Context(), EmbeddedConfig{Dir: dir}); !errors.Is(err, ErrDirInUse) {
		t.Fatalf("got %v, want ErrDirInUse", err)
	}
}

func TestRestartKeepsRevisions_PER01(t *testing.T) {
	dir := t.TempDir()
	e, err := StartEmbedded(t.Context(), EmbeddedConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	rev, err := e.Store().Create(t.Context(), "/a", []byte("x"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Store().Get(t.Context(), "/a"); storage.KindOf(err) != storage.Unavailable {
		t.Errorf("a closed store answers with %v", err)
	}
	began := time.Now()
	again := start(t, dir)
	t.Logf("ready after %v", time.Since(began))
	kv, err := again.Store().Get(t.Context(), "/a")
	if err != nil || kv.Revision != rev || string(kv.Value) != "x" {
		t.Fatalf("after the restart: %+v, %v; want revision %d", kv, err, rev)
	}
	if now, err := again.Store().Revision(t.Context()); err != nil || now < rev {
		t.Fatalf("revision %d, %v after the restart; want at least %d", now, err, rev)
	}
}

func TestClientListener(t *testing.T) {
	e := start(t, t.TempDir())
	if _, err := e.Store().Create(t.Context(), "/a", []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	remote := connect(t, e)
	if kv, err := remote.Get(t.Context(), "/a"); err != nil || string(kv.Value) != "x" {
		t.Fatalf("from outside: %+v, %v", kv, err)
	}
	if err := remote.Healthy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.client.MemberAdd(t.Context(), []string{"http://127.0.0.1:1"}); err == nil {
		t.Error("a member could be added from outside")
	}
	if _, err := clientv3.NewFromURL(e.ClientURL()); err != nil {
		t.Error(err)
	}
}

// A server that clients cannot reach as they were told does not run, and leaves its folder to
// the next one.
func TestATakenPortIsAnError(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := StartEmbedded(ctx, EmbeddedConfig{Dir: dir, ListenClientURL: "http://" + taken.Addr().String()})
	if err == nil {
		e.Close()
		t.Fatal("it runs")
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port that is taken: %v", err)
	}
	start(t, dir)
}

func TestOpenFailsWithoutCluster(t *testing.T) {
	_, err := Open(t.Context(), Config{Endpoints: []string{"http://127.0.0.1:1"}, DialTimeout: 300 * time.Millisecond})
	if storage.KindOf(err) != storage.Unavailable {
		t.Fatalf("got %v, want Unavailable", err)
	}
	if _, err := Open(t.Context(), Config{}); err == nil {
		t.Fatal("no endpoints are accepted")
	}
	if _, err := Open(t.Context(), Config{Endpoints: []string{"https://127.0.0.1:1"}, CAFile: "/nonexistent"}); err == nil {
		t.Fatal("a missing CA file is accepted")
	}
}
