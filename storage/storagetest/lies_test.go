package storagetest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// liar is a store that is right but for one thing.
type liar struct {
	*Memory
	lie
}

// lie is how a reply is changed; nil for not at all.
type lie struct {
	get      func(storage.KV) storage.KV
	pages    func(storage.Range, storage.Page) storage.Page
	scanned  func(n int, p storage.Page) storage.Page
	scanErr  func(error) error
	wrote    func(int64) int64
	refused  func(*storage.Error)
	failed   func(error) error
	batch    func(storage.Batch) storage.Batch
	reason   func(error) error
	revision func(int64) int64
	dropped  func(int64) int64
	ttl      time.Duration // how long what has one lives
}

// call gives f what it is to change, if there is one.
func call[T any](f func(T) T, v T) T {
	if f != nil {
		return f(v)
	}
	return v
}

func (l liar) Get(ctx context.Context, key string) (storage.KV, error) {
	kv, err := l.Memory.Get(ctx, key)
	if err == nil {
		kv = call(l.get, kv)
	}
	return kv, call(l.failed, err)
}

func (l liar) Range(ctx context.Context, r storage.Range) (storage.Page, error) {
	p, err := l.Memory.Range(ctx, r)
	if l.pages != nil {
		p = l.pages(r, p)
	}
	return p, call(l.failed, err)
}

func (l liar) Scan(ctx context.Context, r storage.Range, fn func(storage.Page) error) error {
	n := 0
	return call(l.scanErr, l.Memory.Scan(ctx, r, func(p storage.Page) error {
		if l.scanned != nil {
			p = l.scanned(n, p)
		}
		n++
		return fn(p)
	}))
}

func (l liar) Revision(ctx context.Context) (int64, error) {
	rev, err := l.Memory.Revision(ctx)
	return call(l.revision, rev), err
}

func (l liar) CompactedRevision(ctx context.Context) (int64, error) {
	rev, err := l.Memory.CompactedRevision(ctx)
	return call(l.dropped, rev), err
}

func (l liar) Watch(ctx context.Context, prefix string, from int64) (<-chan storage.Batch, func() error) {
	in, reason := l.Memory.Watch(ctx, prefix, from)
	out := make(chan storage.Batch)
	go func() {
		defer close(out)
		for b := range in {
			select {
			case out <- call(l.batch, b):
			case <-ctx.Done():
			}
		}
	}()
	return out, func() error { return call(l.reason, reason()) }
}

func (l liar) While(key string, rev int64) storage.GuardedWriter {
	return writing{l.Memory.While(key, rev), l.lie}
}

func (l liar) Along(key string, value []byte, rev int64) storage.GuardedWriter {
	return writing{l.Memory.Along(key, value, rev), l.lie}
}

// the writes of both are those of writing.
func (l liar) writing() writing { return writing{(&guarded{Memory: l.Memory}), l.lie} }

func (l liar) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	if ttl > 0 && l.ttl > 0 {
		ttl = l.ttl
	}
	return l.writing().Create(ctx, key, value, ttl)
}

func (l liar) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	return l.writing().Update(ctx, key, value, rev, ttl)
}

func (l liar) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	return l.writing().Delete(ctx, key, rev)
}

type writing struct {
	storage.GuardedWriter
	lie
}

func (w writing) told(rev int64, err error) (int64, error) {
	var e *storage.Error
	if errors.As(err, &e) && w.refused != nil {
		w.refused(e)
	}
	if err == nil {
		rev = call(w.wrote, rev)
	}
	return rev, call(w.failed, err)
}

func (w writing) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	return w.told(w.GuardedWriter.Create(ctx, key, value, ttl))
}

func (w writing) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	return w.told(w.GuardedWriter.Update(ctx, key, value, rev, ttl))
}

func (w writing) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	return w.told(w.GuardedWriter.Delete(ctx, key, rev))
}

func (w writing) While(key string, rev int64) storage.GuardedWriter {
	return writing{w.GuardedWriter.While(key, rev), w.lie}
}

func (w writing) Along(key string, value []byte, rev int64) storage.GuardedWriter {
	return writing{w.GuardedWriter.Along(key, value, rev), w.lie}
}

// lieVariable says which lie a test binary that runs again tells.
const lieVariable = "STORAGETEST_LIE"

// TestALiar is run again by TestLiarsAreFound.
func TestALiar(t *testing.T) {
	for _, c := range lies() {
		if os.Getenv(lieVariable) == c.name {
			m := NewMemory()
			Run(t, Options{Store: liar{m, c.lie}, Compact: m.Compact})
			return
		}
	}
	t.Skip("nobody lies")
}

// A store that lies in one thing fails the check of that, with words about it.
func TestLiarsAreFound(t *testing.T) {
	for _, c := range lies() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestALiar$/^"+strings.ReplaceAll(c.check, " ", "_")+"$", "-test.timeout=60s")
			cmd.Env = append(os.Environ(), lieVariable+"="+c.name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(string(out), c.says) {
				t.Errorf("%v, want %q\n%s", err, c.says, out)
			}
		})
	}
}
