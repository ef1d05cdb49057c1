package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var errDown = errors.New("connection refused to 10.0.0.1")

// fixture has an etcd check that can be broken, a hook and shutdown.
type fixture struct {
	*Registry
	etcd     error
	finish   func()
	shutdown func()
	log      []string
	counts   []string
}

func newFixture() *fixture {
	f := &fixture{}
	f.Registry = New(func(e Endpoint, check string, err error) {
		f.log = append(f.log, string(e)+" "+check+": "+err.Error())
	}, func(e Endpoint, check string, well bool) {
		f.counts = append(f.counts, fmt.Sprint(e, " ", check, " ", well))
	})
	f.Add("etcd", func(context.Context) error { return f.etcd })
	f.finish = f.PostStartHook("start-controllers", time.Time{})
	f.shutdown = f.Shutdown()
	return f
}

func (f *fixture) get(t *testing.T, path string, verbose bool, exclude ...string) (int, string) {
	t.Helper()
	status, body, ok := f.Serve(context.Background(), path, verbose, exclude)
	if !ok {
		t.Fatalf("%s is no health path", path)
	}
	return status, body
}

func (f *fixture) want(t *testing.T, path string, verbose bool, exclude []string, status int, body string) {
	t.Helper()
	gotStatus, got := f.get(t, path, verbose, exclude...)
	if gotStatus != status || got != body {
		t.Errorf("%s verbose=%v exclude=%v:\n%d %q\nwant\n%d %q", path, verbose, exclude, gotStatus, got, status, body)
	}
}

func TestHealth_HLT01_StatusIsTheContract(t *testing.T) {
	f := newFixture()
	for _, path := range []string{"/livez", "/readyz", "/healthz"} {
		if status, _ := f.get(t, path, false); status != 500 {
			t.Errorf("%s before start-up finished: %d", path, status)
		}
	}
	f.finish()
	for _, path := range []string{"/livez", "/readyz", "/healthz"} {
		f.want(t, path, false, nil, 200, "ok")
	}
	f.etcd = errDown
	f.want(t, "/livez", false, nil, 500,
		"[+]ping ok\n[-]etcd failed: reason withheld\n[+]poststarthook/start-controllers ok\nlivez check failed\n")
	if got := strings.Join(f.log, "\n"); !strings.Contains(got, "livez etcd: "+errDown.Error()) {
		t.Errorf("the reason was not logged: %s", got)
	}
	if _, _, ok := f.Serve(context.Background(), "/metrics", false, nil); ok {
		t.Error("/metrics was taken for a health path")
	}
}

func TestHealth_HLT02_Verbose(t *testing.T) {
	f := newFixture()
	f.finish()
	f.want(t, "/readyz", true, nil, 200,
		"[+]ping ok\n[+]etcd ok\n[+]poststarthook/start-controllers ok\n[+]shutdown ok\nreadyz check passed\n")
	f.want(t, "/healthz", true, nil, 200,
		"[+]ping ok\n[+]etcd ok\n[+]poststarthook/start-controllers ok\nhealthz check passed\n")
}

// All checks of a whole endpoint are counted that are not left out, and no single ones.
func TestChecksAreCounted(t *testing.T) {
	f := newFixture()
	f.etcd = errors.New("away")
	f.Report(t.Context(), Livez, false, []string{"ping"})
	f.Single(t.Context(), Livez, "etcd")
	if want := []string{"livez etcd false", "livez poststarthook/start-controllers false"}; !slices.Equal(f.counts, want) {
		t.Errorf("%q", f.counts)
	}
}

func TestHealth_HLT03_Exclude(t *testing.T) {
	f := newFixture()
	f.finish()
	f.etcd = errDown
	f.want(t, "/livez", false, []string{"etcd"}, 200, "ok")
	f.want(t, "/livez", true, []string{"etcd", "poststarthook/start-controllers"}, 200,
		"[+]ping ok\n[+]etcd excluded: ok\n[+]poststarthook/start-controllers excluded: ok\nlivez check passed\n")
	f.want(t, "/livez", true, []string{"nope", "etcd", "foo", "nope"}, 200,
		"[+]ping ok\n[+]etcd excluded: ok\n[+]poststarthook/start-controllers ok\n"+
			"warn: some health checks cannot be excluded: no matches for \"foo\",\"nope\"\nlivez check passed\n")
}

func TestHealth_HLT04_SingleChecks(t *testing.T) {
	f := newFixture()
	f.want(t, "/readyz/etcd", false, nil, 200, "ok")
	f.want(t, "/readyz/etcd", true, nil, 200, "ok")
	f.want(t, "/livez/poststarthook/start-controllers", false, nil, 500, "internal server error: reason withheld\n")
	f.finish()
	f.want(t, "/livez/poststarthook/start-controllers", false, nil, 200, "ok")
	for _, path := range []string{"/livez/nope", "/livez/", "/livez/poststarthook", "/livez/shutdown"} {
		f.want(t, path, false, nil, 404, "404 page not found\n")
	}
}

func TestHealth_HLT05_ShutdownOnlyEndsReadiness(t *testing.T) {
	f := newFixture()
	f.finish()
	f.shutdown()
	if status, body := f.get(t, "/readyz", false); status != 500 || !strings.Contains(body, "[-]shutdown failed: reason withheld\n") {
		t.Errorf("readyz: %d %q", status, body)
	}
	f.want(t, "/livez", false, nil, 200, "ok")
}

// A start may take as long as livez is told to wait for it; nothing else may.
func TestHealth_HLT05_LivezWaitsForTheStart(t *testing.T) {
	r := New(nil, nil)
	well := errDown
	r.Add("etcd", func(context.Context) error { return well })
	finish := r.PostStartHook("slow", time.Now().Add(time.Hour))
	overdue := r.PostStartHook("overdue", time.Now())
	want := func(e Endpoint, status int, failed string) {
		t.Helper()
		got, body := r.Report(t.Context(), e, true, nil)
		if names := strings.Join(regexp.MustCompile(`(?m)^\[-\]\S+`).FindAllString(body, -1), " "); got != status || names != failed {
			t.Errorf("%s: %d, %s", e, got, names)
		}
	}
	want(Livez, 500, "[-]etcd [-]poststarthook/overdue")
	overdue()
	want(Livez, 500, "[-]etcd")
	well = nil
	want(Livez, 200, "")
	want(Readyz, 500, "[-]poststarthook/slow")
	want(Healthz, 500, "[-]poststarthook/slow")
	if status, _ := r.Single(t.Context(), Livez, "poststarthook/slow"); status != 200 {
		t.Errorf("alone: %d", status)
	}
	finish()
	want(Readyz, 200, "")
}

func TestAdd_ReplacesByName(t *testing.T) {
	r := New(nil, nil)
	r.Add("etcd", func(context.Context) error { return errDown })
	r.Add("etcd", func(context.Context) error { return nil }, Readyz)
	if status, body := r.Report(context.Background(), Readyz, true, nil); status != 200 || strings.Count(body, "etcd") != 1 {
		t.Errorf("%d %q", status, body)
	}
	if status, _ := r.Single(context.Background(), Livez, "etcd"); status != 404 {
		t.Errorf("livez/etcd: %d", status)
	}
}

func TestReport_GivesChecksADeadline(t *testing.T) {
	r := New(nil, nil)
	r.Add("slow", func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("no deadline")
		}
		return nil
	})
	r.Report(context.Background(), Livez, false, nil)
}

func TestLogWriter_NoticesABlockedLog(t *testing.T) {
	reader, pipe := io.Pipe()
	begun := make(chan struct{})
	l := NewLogWriter(writerFunc(func(p []byte) (int, error) {
		close(begun)
		return pipe.Write(p)
	}))
	now := time.Now()
	l.now = func() time.Time { return now }
	done := make(chan error)
	go func() {
		_, err := l.Write([]byte("x"))
		done <- err
	}()
	<-begun
	late := &LogWriter{now: func() time.Time { return now.Add(time.Minute) }}
	late.since.Store(l.since.Load())
	if err := l.Check(context.Background()); err != nil {
		t.Errorf("at once: %v", err)
	}
	if err := late.Check(context.Background()); err == nil {
		t.Error("after a minute: no error")
	}
	if _, err := reader.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if l.since.Load() != 0 || l.Check(context.Background()) != nil {
		t.Error("not well again after the write")
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
