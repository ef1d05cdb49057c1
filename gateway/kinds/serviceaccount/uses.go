package serviceaccount

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// lastUsed is the label of a Secret with the day, in UTC, on which its token was shown last.
const lastUsed = "kubernetes.io/legacy-token-last-used"

const (
	// mostUses is how many Secrets may wait for their label, and mostPending how many
	// may wait or have failed a moment ago. What is beyond is not noted until the token
	// is shown again.
	mostUses    = 1000
	mostPending = 10 * mostUses
	// noteTimeout is how long one write may take, and failedFor how long a Secret is
	// left alone whose label could not be written.
	noteTimeout = 30 * time.Second
	failedFor   = time.Minute
)

// Noting is what writes labels.
type Noting interface {
	client.MergePatcher
	client.Freshener
}

// Uses notes on Secrets on which day their tokens were used last, beside the requests
// that show them: one write for each Secret and day. It is safe for concurrent use.
type Uses struct {
	objects Noting
	counts  *metrics.Tokens
	log     zerolog.Logger
	now     func() time.Time
	queue   chan use

	mu sync.Mutex
	// pending are those in the queue, and those that failed a moment ago; guarded by mu.
	pending map[use]bool
	// failing: the last write failed, of which there is a line in the log.
	failing bool
}

// use is that of the token of a Secret on a day.
type use struct {
	namespace, name string
	uid             types.UID
	day             string
}

// NewUses makes what notes uses. Nothing is written before [Uses.Run].
func NewUses(objects Noting, counts *metrics.Tokens, log zerolog.Logger) *Uses {
	return &Uses{objects: objects, counts: counts, log: log, now: time.Now, queue: make(chan use, mostUses), pending: map[use]bool{}}
}

// Of notes that the token of a Secret is used, unless the Secret says so already. It
// does not wait for the write. A nil Uses notes nothing.
func (u *Uses) Of(secret *unstructured.Unstructured) {
	if u == nil {
		return
	}
	now := u.now().UTC()
	today, said := day(now), secret.GetLabels()[lastUsed]
	if said == today || said == day(now.AddDate(0, 0, 1)) { // the clock of another gateway is ahead
		return
	}
	one := use{secret.GetNamespace(), secret.GetName(), secret.GetUID(), today}
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.pending[one]:
	case len(u.pending) >= mostPending:
		u.counts.Unrecorded(true)
	default:
		select {
		case u.queue <- one:
			u.pending[one] = true
		default:
			u.counts.Unrecorded(true)
		}
	}
}

// Run writes what is to be noted until ctx ends.
func (u *Uses) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case one := <-u.queue:
			u.write(ctx, one)
		}
	}
}

// write labels the Secret of a use, if it still is that one.
func (u *Uses) write(ctx context.Context, one use) {
	bounded, cancel := context.WithTimeout(ctx, noteTimeout)
	defer cancel()
	err := u.objects.MergePatch(bounded, secrets, one.namespace, one.name, map[string]any{
		"metadata": map[string]any{"uid": string(one.uid), "labels": map[string]any{lastUsed: one.day}},
	})
	if err == nil { // requests read the cache: what it does not have yet they would note again
		err = u.objects.Fresh(bounded)
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // it is gone, or another one of its name
		err = nil
	}
	switch {
	case ctx.Err() != nil:
		return
	case err == nil:
		u.failing = false
		u.forget(one)
		return
	case !u.failing: // once, as long as it goes on
		u.log.Warn().Err(err).Str("component", "legacy-tokens").Str("namespace", one.namespace).Str("secret", one.name).Msg("when the token of a secret was used last is not noted on it")
	}
	u.failing = true
	u.counts.Unrecorded(false)
	time.AfterFunc(failedFor, func() { u.forget(one) })
}

// forget lets a use be noted again.
func (u *Uses) forget(one use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.pending, one)
}
