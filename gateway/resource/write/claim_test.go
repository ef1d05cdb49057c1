package write

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/storage"
)

// claims is a mutator that claims a name for every write.
type claims struct {
	then func(ctx context.Context) error
}

var errTaken = apierrors.NewBadRequest("taken")

func (c *claims) Mutate(ctx context.Context, w admission.Attributes) error {
	for range 2 { // what the write has it has
		if ok, err := w.Claim(ctx, "it"); err != nil {
			return err
		} else if !ok {
			return errTaken
		}
	}
	return c.then(ctx)
}

// claimWorld is a world whose writes claim a name, and what tells whether it is
// claimed.
func claimWorld(t *testing.T, then func(ctx context.Context) error) (w *world, claimed func() bool) {
	w = newWorld(t)
	w.o.Admission.Mutators = []admission.Mutator{&claims{then}}
	return w, func() bool {
		_, err := w.store.Get(w.ctx(), w.catalog.ClaimKey("it"))
		if err != nil && storage.KindOf(err) != storage.NotFound {
			t.Fatal(err)
		}
		return err == nil
	}
}

func (w *world) configMap(name string, dry bool) error {
	t := w.builtin("configmaps", "default", "")
	_, err := w.Create(w.ctx(), t, []byte(`{"metadata":{"name":"`+name+`"}}`), resource.WriteOptions{DryRun: dry})
	return err
}

// A claim is a write's own until the write has ended, however it ends.
func TestClaimsLastAsLongAsTheWrite(t *testing.T) {
	var inside func() error
	w, claimed := claimWorld(t, func(context.Context) error { return inside() })
	for _, outcome := range []error{nil, apierrors.NewBadRequest("no")} {
		inside = func() error {
			if !claimed() {
				t.Error("it is not claimed")
			}
			if other := w.configMap("other", false); other == nil || other.Error() != errTaken.Error() {
				t.Errorf("another write: %v", other)
			}
			return outcome
		}
		if err := w.configMap("one", false); (err == nil) != (outcome == nil) {
			t.Errorf("the write: %v", err)
		}
		if claimed() {
			t.Errorf("it is claimed after a write that ended with %v", outcome)
		}
	}
	inside = func() error {
		if claimed() {
			t.Error("a dry run claims")
		}
		return nil
	}
	if err := w.configMap("dry", true); err != nil {
		t.Error(err)
	}
}

// A write whose claim ended before it claims again, and does nothing if somebody
// else was faster.
func TestWritesDependOnTheirClaims(t *testing.T) {
	for name, faster := range map[string]bool{"nobody": false, "somebody": true} {
		t.Run(name, func(t *testing.T) {
			attempts := 0
			var w *world
			w, _ = claimWorld(t, func(ctx context.Context) error {
				if attempts++; attempts > 1 {
					return nil
				}
				key := w.catalog.ClaimKey("it")
				kv, err := w.store.Get(ctx, key)
				if err == nil {
					_, err = w.store.Delete(ctx, key, kv.Revision)
				}
				if err == nil && faster {
					_, err = w.store.Create(ctx, key, nil, 0)
				}
				return err
			})
			err := w.configMap("one", false)
			if faster != (err != nil) || faster && err.Error() != errTaken.Error() || attempts != map[bool]int{false: 2, true: 1}[faster] {
				t.Errorf("after %d attempts: %v", attempts, err)
			}
			_, err = w.store.Get(w.ctx(), "/registry/configmaps/default/one")
			if (storage.KindOf(err) == storage.NotFound) != faster {
				t.Errorf("the object: %v", err)
			}
		})
	}
}

// Whoever has a claim sees what became of who had it before, however far behind
// its cache was.
func TestAClaimIsFollowedByWhatWentBefore(t *testing.T) {
	var w *world
	var seen bool
	w, _ = claimWorld(t, func(context.Context) error {
		_, seen = w.builtin("configmaps", "default", "").Resource.Bucket().Snapshot().Get("default/before")
		return nil
	})
	release := w.store.holdUp()
	if _, err := w.store.Create(w.ctx(), "/registry/configmaps/default/before", []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"before","namespace":"default"}}`), 0); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.configMap("one", false) }()
	ctx := w.ctx()
	for { // until it is claimed, when the write waits for the cache
		_, err := w.store.Get(ctx, w.catalog.ClaimKey("it"))
		if err == nil {
			break
		}
		if storage.KindOf(err) != storage.NotFound {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	release()
	if err := <-done; err != nil || !seen {
		t.Errorf("%v, and what went before is seen: %v", err, seen)
	}
}

// A claim that cannot be made is the store's failure, and nothing is written.
func TestClaimsFailWithTheStore(t *testing.T) {
	var w *world
	w, _ = claimWorld(t, func(context.Context) error { return nil })
	w.Writer.store = failing{w.store}
	if err := w.configMap("one", false); !apierrors.IsServerTimeout(err) {
		t.Error(err)
	}
}

// failing is a store that creates nothing.
type failing struct{ storage.Store }

func (failing) Create(context.Context, string, []byte, time.Duration) (int64, error) {
	return 0, &storage.Error{Kind: storage.Unavailable, Cause: fmt.Errorf("away")}
}
