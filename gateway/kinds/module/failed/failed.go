// Package failed owns the calls of modules that failed in this process, with what was
// sent, so that they can be made again elsewhere.
//
// It must not know who calls modules, nor why a call failed. What it keeps is bounded, and
// is what tenants sent: nothing is kept unless somebody wants it.
package failed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/plugins"
)

// The bounds of what is kept, besides that of [New].
const (
	// MaxCalls is how many calls are kept, and MaxAge for how long.
	MaxCalls = 100
	MaxAge   = time.Hour
	// maxError bounds what is kept of an error.
	maxError = 2 << 10
)

// Call is a call that failed.
type Call struct {
	// ID names it: the module's name, a dot, and what the call is made of.
	ID   string `json:"id"`
	Hook string `json:"hook"`
	// Digest is that of the content that was called, and Config what it was configured
	// with.
	Digest string `json:"digest"`
	Config []byte `json:"config,omitempty"`
	Limits Limits `json:"limits"`
	// Request is what was sent.
	Request []byte `json:"request"`
	Error   string `json:"error"`
	// Times is how often it failed, and Last when it did last.
	Times int         `json:"times"`
	Last  metav1.Time `json:"last"`

	module string
}

// Limits are those of the calls of a module.
type Limits struct {
	MemoryBytes   int64         `json:"memoryBytes"`
	Timeout       time.Duration `json:"timeoutNanoseconds"`
	ResponseBytes int64         `json:"responseBytes"`
	Fuel          int64         `json:"fuel"`
}

func (c *Call) size() int64 { return int64(len(c.Request) + len(c.Config) + len(c.Error) + 512) }

// Calls keep calls that failed. They are safe for concurrent use; nil keeps nothing.
type Calls struct {
	now  func() time.Time
	most int64

	mu    sync.Mutex
	calls []*Call // guarded by mu: the one that failed last is the last
	bytes int64   // guarded by mu
}

// New keeps calls of so many bytes in all; nil if that is 0.
func New(most int64) *Calls {
	if most <= 0 {
		return nil
	}
	return &Calls{now: time.Now, most: most}
}

// Keep keeps a call, unless it is too large, and tells its ID, and whether it is the
// first time that this one failed. "" is the ID of what is not kept.
func (c *Calls) Keep(module string, hook plugins.Hook, rev plugins.Revision, request []byte, err error) (id string, first bool) {
	if c == nil {
		return "", false
	}
	id = idOf(module, hook, rev, request)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.expireLocked(now)
	if i := slices.IndexFunc(c.calls, func(k *Call) bool { return k.ID == id }); i >= 0 {
		k := c.calls[i]
		k.Times, k.Last = k.Times+1, metav1.NewTime(now)
		c.calls = append(slices.Delete(c.calls, i, i+1), k)
		return id, false
	}
	text := err.Error()
	k := &Call{
		ID: id, Hook: string(hook), Digest: rev.Digest, Config: bytes.Clone(rev.Config), Limits: Limits(rev.Limits),
		Error: text[:min(len(text), maxError)], Times: 1, Last: metav1.NewTime(now), module: module,
	}
	if k.size()+int64(len(request)) > c.most {
		return "", false
	}
	k.Request = bytes.Clone(request)
	c.calls, c.bytes = append(c.calls, k), c.bytes+k.size()
	for c.bytes > c.most || len(c.calls) > MaxCalls {
		c.dropLocked(1)
	}
	return id, true
}

// idOf is the same for the same call.
func idOf(module string, hook plugins.Hook, rev plugins.Revision, request []byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s %d\n", hook, rev.Digest, len(rev.Config))
	_, _ = sum.Write(rev.Config)
	_, _ = sum.Write(request)
	return module + "." + hex.EncodeToString(sum.Sum(nil)[:6])
}

func (c *Calls) expireLocked(now time.Time) {
	n := 0
	for n < len(c.calls) && now.Sub(c.calls[n].Last.Time) > MaxAge {
		n++
	}
	c.dropLocked(n)
}

// dropLocked drops the first n.
func (c *Calls) dropLocked(n int) {
	for _, k := range c.calls[:n] {
		c.bytes -= k.size()
	}
	c.calls = slices.Delete(c.calls, 0, n)
}

// Of are the calls of a module that are kept, the last one first.
func (c *Calls) Of(module string) []Call {
	all := []Call{}
	if c == nil {
		return all
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expireLocked(c.now())
	for _, k := range slices.Backward(c.calls) {
		if k.module == module {
			all = append(all, *k) // its bytes never change
		}
	}
	return all
}

// Forget drops the calls of a module.
func (c *Calls) Forget(module string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = slices.DeleteFunc(c.calls, func(k *Call) bool {
		if k.module == module {
			c.bytes -= k.size()
		}
		return k.module == module
	})
}

// List is what is answered.
type List struct {
	metav1.TypeMeta `json:",inline"`
	Items           []Call `json:"items"`
}

// Question is the question for the failed calls of a module. Calls may be nil.
type Question struct {
	Calls *Calls
	// Exists fails for a module that does not exist.
	Exists func(ctx context.Context, t resource.Target) error
}

// Answer returns the failed calls of the named module.
func (q Question) Answer(ctx context.Context, t resource.Target, _ string, _ []byte, _ resource.WriteOptions) (any, error) {
	if err := q.Exists(ctx, t); err != nil {
		return nil, err
	}
	if q.Calls == nil {
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
			Message: "failed calls of modules are not kept: the gateway was started without --module-failed-calls",
		}}
	}
	return List{metav1.TypeMeta{APIVersion: "wasmgate.dev/v1", Kind: "FailedCallList"}, q.Calls.Of(t.Name)}, nil
}
