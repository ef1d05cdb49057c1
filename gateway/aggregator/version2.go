package aggregator

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/wasmgate/wasmgate/gateway/discovery/openapi"
)

// A server has describeTimeout for its description of version 2, and no more than
// describedAtOnce of them are taken at a time.
const (
	describeTimeout = 30 * time.Second
	describedAtOnce = 8
)

// described is what a server describes in version 2.
type described struct {
	service *apiregistrationv1.ServiceReference // that is asked
	// etag and sum are of what was read last, whatever came of it.
	etag string
	sum  [sha256.Size]byte
	// document is the last good one.
	document *openapi.Foreign
	// failure is what was last logged of it.
	failure string
}

// by tells that it is what b describes.
func (d *described) by(b *server) bool { return equality.Semantic.DeepEqual(d.service, b.spec.Service) }

// Describe asks the servers for their descriptions of version 2 until ctx ends. It is apart
// from [Servers.Discover], as they may be large, and slow to come.
func (s *Servers) Describe(ctx context.Context) {
	failures := 0
	for {
		next := refreshEvery
		if s.askV2(ctx) {
			failures = 0
		} else {
			next, failures = min(refreshEvery, askAgain<<failures), min(failures+1, 10)
		}
		t := time.NewTimer(next)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-s.found.wakeV2:
		case <-t.C:
		}
		t.Stop()
	}
}

// askV2 asks all servers that are available, and tells whether all of them answered.
func (s *Servers) askV2(ctx context.Context) bool {
	var all sync.WaitGroup
	var failed atomic.Bool
	var reading sync.Mutex // one at a time, which takes memory
	slots := make(chan struct{}, describedAtOnce)
	for gv, b := range *s.now.Load() {
		if !b.available || gv.Group == "" {
			continue
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			s.found.mu.Lock()
			last := s.found.described[gv]
			s.found.mu.Unlock()
			if !last.by(b) {
				last = described{service: b.spec.Service}
			}
			err := b.describeV2(ctx, &last, &reading)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				failed.Store(true)
			}
			b.logFailure(&last, err)
			s.found.mu.Lock()
			s.found.described[gv] = last
			s.found.mu.Unlock()
			s.publish() // also forgets it, if it is of a server that is no more
		})
	}
	all.Wait()
	return !failed.Load()
}

// logFailure logs why there is no new description, once.
func (b *server) logFailure(last *described, err error) {
	failure := ""
	if err != nil {
		if failure = err.Error(); failure != last.failure {
			b.of.Log.Warn().Err(err).Str("apiservice", b.name).Bool("keeps the last one", last.document != nil).Msg("what a server describes in OpenAPI version 2 is not taken")
		}
	}
	last.failure = failure
}

// describeV2 asks a server for its description where that is another one than last. A
// server may have none. One that is bad leaves the last good one.
func (b *server) describeV2(ctx context.Context, last *described, reading *sync.Mutex) error {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	a, err := b.send(ctx, question{path: "/openapi/v2", accept: "application/json", etag: last.etag, user: "system:aggregator"})
	switch {
	case err != nil:
		return err
	case a.code == http.StatusNotFound:
		*last = described{service: last.service}
		return nil
	case a.code == http.StatusNotModified && last.etag != "":
		return nil
	case a.code != http.StatusOK:
		return a.bad()
	}
	sum := sha256.Sum256(a.body)
	same := sum == last.sum
	last.etag, last.sum = a.head.Get("Etag"), sum
	if same {
		return nil
	}
	reading.Lock()
	defer reading.Unlock()
	document, err := openapi.ReadForeign(a.body, b.gv)
	if err != nil {
		b.of.Log.Warn().Err(err).Str("apiservice", b.name).Msg("what a server describes in OpenAPI version 2 is bad")
		return nil // it is not asked again before it is time
	}
	if last.document == nil || !last.document.Same(document) {
		last.document = document
	}
	return nil
}
