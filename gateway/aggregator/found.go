package aggregator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints"

	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/discovery/openapi"
)

// Servers are asked again what they serve each refreshEvery, and after askAgain where
// one did not answer, in which it has askTimeout.
const (
	refreshEvery = time.Minute
	askTimeout   = 5 * time.Second
)

// found is what the servers serve, as they said last.
type found struct {
	wake chan struct{}
	now  atomic.Pointer[discovery.Others]

	reading sync.Mutex // held while an answer is decoded

	mu   sync.Mutex
	said map[schema.GroupVersion]said
	// described is what the servers describe in version 2; wakeV2 has them asked for that.
	described map[schema.GroupVersion]described
	wakeV2    chan struct{}
}

// said is what a server said of its version: what is there, its description with the URL by
// which that goes, and the URL of a further one that did not come.
type said struct {
	discovery  apidiscoveryv2.APIVersionDiscovery
	openapi    []byte
	at, missed string
}

// look has the servers asked again.
func (f *found) look() {
	for _, wake := range []chan struct{}{f.wake, f.wakeV2} {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// Others are the versions that other servers serve: the same as long as nothing changed.
func (s *Servers) Others() *discovery.Others { return s.found.now.Load() }

// Discover asks the servers what they serve until ctx ends.
func (s *Servers) Discover(ctx context.Context) {
	for {
		s.publish() // what came or went shows before those are asked
		next := refreshEvery
		if !s.ask(ctx) {
			next = askAgain
		}
		s.publish()
		t := time.NewTimer(next)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-s.found.wake:
		case <-t.C:
		}
		t.Stop()
	}
}

// ask asks all servers at once, and tells whether all that are available answered, or are
// not to be asked again soon.
func (s *Servers) ask(ctx context.Context) bool {
	var all sync.WaitGroup
	var failed atomic.Bool
	servers := *s.now.Load()
	for gv, b := range servers {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, askTimeout)
			defer cancel()
			s.found.mu.Lock()
			last := s.found.said[gv]
			s.found.mu.Unlock()
			now, err := b.discover(ctx)
			if err == nil {
				err = showable(now)
			}
			if err != nil {
				if b.available {
					failed.Store(true)
				}
				now = last.discovery
				now.Version, now.Freshness = gv.Version, apidiscoveryv2.DiscoveryFreshnessStale
			} else {
				var soon bool
				if last, soon = b.describe(ctx, last); soon {
					failed.Store(true)
				}
			}
			last.discovery = now
			s.found.mu.Lock()
			defer s.found.mu.Unlock()
			s.found.said[gv] = last
		})
	}
	all.Wait()
	return !failed.Load()
}

// publish has discovery show what is known now.
func (s *Servers) publish() {
	s.found.mu.Lock()
	defer s.found.mu.Unlock()
	servers, out := *s.now.Load(), discovery.Others{}
	for gv := range s.found.said {
		if servers[gv] == nil {
			delete(s.found.said, gv)
		}
	}
	for gv, d := range s.found.described {
		if b := servers[gv]; b == nil || !d.by(b) {
			delete(s.found.described, gv)
		}
	}
	for gv, b := range servers {
		it, ok := s.found.said[gv]
		if !ok {
			it.discovery = apidiscoveryv2.APIVersionDiscovery{Version: gv.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessStale}
		}
		out = append(out, discovery.Other{
			GroupVersion: gv, Priority: discovery.Priority{Group: b.spec.GroupPriorityMinimum, Version: b.spec.VersionPriority},
			Discovery: it.discovery, OpenAPI: it.openapi, OpenAPIHash: hashOf(it.openapi),
			V2: s.found.described[gv].document,
		})
	}
	slices.SortFunc(out, func(a, b discovery.Other) int { return strings.Compare(a.String(), b.String()) })
	if !reflect.DeepEqual(*s.found.now.Load(), out) {
		s.found.now.Store(&out)
	}
}

const (
	aggregatedV2      = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	aggregatedV2beta1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
)

// discover asks a server what it serves at its version: in the aggregated form, or where
// it knows none in the other.
func (b *server) discover(ctx context.Context) (out apidiscoveryv2.APIVersionDiscovery, err error) {
	if b.unusable != nil {
		return out, b.unusable
	}
	if b.gv.Group != "" {
		body, head, err := b.get(ctx, "/apis", aggregatedV2+","+aggregatedV2beta1+",application/json")
		if err == nil && strings.Contains(head.Get("Content-Type"), "as=APIGroupDiscoveryList") {
			return b.aggregated(body)
		}
	}
	body, _, err := b.get(ctx, b.path(), "application/json")
	if err != nil {
		return out, err
	}
	var list metav1.APIResourceList
	if err := b.read(body, &list); err != nil {
		return out, err
	}
	out = apidiscoveryv2.APIVersionDiscovery{Version: b.gv.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
	out.Resources, err = endpoints.ConvertGroupVersionIntoToDiscovery(list.APIResources)
	return out, err
}

// maxSaid is how many values a server may use to say what it serves: each of two bytes can
// become an object of some hundred.
const maxSaid = 200_000

// read decodes what a server serves, one answer at a time, which takes memory.
func (b *server) read(body []byte, into any) error {
	if _, values := openapi.Extent(body); values > maxSaid {
		return fmt.Errorf("what %s serves: it has %d values, more than %d", b.name, values, maxSaid)
	}
	b.of.found.reading.Lock()
	defer b.of.found.reading.Unlock()
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("what %s serves: %w", b.name, err)
	}
	return nil
}

// maxDiscovered bounds what is shown to every client of a version, in bytes.
const maxDiscovered = 2 << 20

func showable(d apidiscoveryv2.APIVersionDiscovery) error {
	text, err := json.Marshal(d)
	if err == nil && len(text) > maxDiscovered {
		err = fmt.Errorf("what it serves takes %d bytes to tell, more than %d", len(text), maxDiscovered)
	}
	return err
}

// aggregated finds the version of the server in what it says of all. One that it does
// not name serves nothing.
func (b *server) aggregated(body []byte) (out apidiscoveryv2.APIVersionDiscovery, err error) {
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := b.read(body, &list); err != nil {
		return out, err
	}
	out.Version = b.gv.Version
	for _, g := range list.Items {
		for _, v := range g.Versions {
			if g.Name == b.gv.Group && v.Version == b.gv.Version {
				out = v
			}
		}
	}
	for i := range out.Resources {
		r := &out.Resources[i]
		if r.ResponseKind == nil { // which older clients take for granted
			r.ResponseKind = &metav1.GroupVersionKind{}
		}
		for j := range r.Subresources {
			if r.Subresources[j].ResponseKind == nil {
				r.Subresources[j].ResponseKind = &metav1.GroupVersionKind{}
			}
		}
	}
	out.Freshness = apidiscoveryv2.DiscoveryFreshnessCurrent
	return out, nil
}

// describe asks a server for the description of its version, where that is another one
// than last. A server may have none. One that does not come, or is bad, leaves the last one,
// and is to be asked for again soon, unless that was tried.
func (b *server) describe(ctx context.Context, last said) (now said, soon bool) {
	body, _, err := b.get(ctx, "/openapi/v3", "application/json")
	if err != nil {
		return last, false
	}
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := b.read(body, &index); err != nil {
		b.of.Log.Warn().Err(err).Str("apiservice", b.name).Msg("where a server has its OpenAPI version 3 is not taken")
		return last, false
	}
	at := index.Paths[strings.TrimPrefix(b.path(), "/")].ServerRelativeURL
	if at == last.at || at != "" && !strings.HasPrefix(at, "/openapi/v3/") {
		return last, false
	}
	now = said{discovery: last.discovery, at: at}
	if at == "" {
		return now, false
	}
	doc, _, err := b.get(ctx, at, "application/json")
	if err == nil {
		if err = openapi.CheckGiven(doc); err != nil {
			b.of.Log.Warn().Err(err).Str("apiservice", b.name).Msg("what a server describes in OpenAPI version 3 is not taken")
		}
	}
	if err != nil {
		soon = last.missed != at
		last.missed = at
		return last, soon
	}
	now.openapi = doc
	return now, false
}

// hashOf names a document; "" where there is none.
func hashOf(doc []byte) string {
	if doc == nil {
		return ""
	}
	sum := sha256.Sum256(doc)
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}
