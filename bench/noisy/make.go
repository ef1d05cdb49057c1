package main

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// maker makes noise as one tenant.
type maker struct {
	s   *server
	c   config
	got *answers
}

func (m *maker) kinds() map[string]func(context.Context) {
	return map[string]func(context.Context){"lists": m.lists, "writes": m.writes, "watches": m.watches, "uploads": m.uploads, "loops": m.loops}
}

// many has so many clients do something again and again, each on connections of its own.
func (m *maker) many(ctx context.Context, clients int, do func(over http.RoundTripper, i int)) {
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			over := newTransport()
			defer over.CloseIdleConnections()
			for i := client; ctx.Err() == nil; i += clients {
				do(over, i)
			}
		})
	}
	all.Wait()
}

// once sends a request and reads the reply in a way.
func (m *maker) once(ctx context.Context, over http.RoundTripper, what, method, path, kind string, body []byte, read func(io.Reader)) {
	resp, err := m.s.ask(ctx, over, method, path, kind, body)
	m.got.add(what, resp, err)
	if err != nil {
		pause(ctx, 10*time.Millisecond)
		return
	}
	defer resp.Body.Close()
	read(resp.Body)
	if resp.StatusCode == http.StatusTooManyRequests { // a client that does not wait as long as it is told
		pause(ctx, 10*time.Millisecond)
	}
}

func pause(ctx context.Context, length time.Duration) {
	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
}

func drop(r io.Reader) { _, _ = io.Copy(io.Discard, r) } // the code was what counts

// lists reads all pieces, slowly.
func (m *maker) lists(ctx context.Context) {
	m.many(ctx, m.c.lists, func(over http.RoundTripper, _ int) {
		m.once(ctx, over, "list", http.MethodGet, configMaps("noisy"), "", nil, func(r io.Reader) {
			for b := make([]byte, 64<<10); ; pause(ctx, 50*time.Millisecond) {
				if _, err := io.ReadFull(r, b); err != nil {
					return
				}
			}
		})
	})
}

// writes changes objects as fast as it goes.
func (m *maker) writes(ctx context.Context) {
	m.many(ctx, 64, func(over http.RoundTripper, i int) {
		m.once(ctx, over, "write", http.MethodPatch, configMaps("noisy")+"/piece-"+strconv.Itoa(i%pieces), inMerge, []byte(`{"data":{"n":"`+strconv.Itoa(i)+`"}}`), drop)
	})
}

// opening is how many watches are begun at once.
const opening = 50

// watches opens them, and reads nothing of what they are told.
func (m *maker) watches(ctx context.Context) {
	var all sync.WaitGroup
	turns := make(chan struct{}, opening)
	for range m.c.watches {
		turns <- struct{}{}
		all.Go(func() {
			over := newTransport()
			defer over.CloseIdleConnections()
			resp, err := m.s.ask(ctx, over, http.MethodGet, configMaps("noisy")+"?watch=1&resourceVersion=0&fieldSelector=metadata.name=piece-1", "", nil)
			m.got.add("watch", resp, err)
			<-turns
			if err == nil {
				<-ctx.Done()
				_ = resp.Body.Close() // nobody reads it
			}
		})
	}
	all.Wait()
}

// uploads uploads modules that nobody has compiled yet.
func (m *maker) uploads(ctx context.Context) {
	wasm, err := build(ctx)
	if err != nil {
		m.got.add("upload", nil, err)
		return
	}
	m.many(ctx, 4, func(over http.RoundTripper, _ int) {
		name := []byte(rand.Text())
		section := slices.Concat([]byte{0, byte(len(name) + 1), byte(len(name))}, name) // a custom section of no content
		m.once(ctx, over, "upload", http.MethodPut, modulePath+"/uploaded/content", "application/wasm", slices.Concat(wasm, section), drop)
	})
}

// loops reads what never converts.
func (m *maker) loops(ctx context.Context) {
	m.many(ctx, 16, func(over http.RoundTripper, _ int) {
		m.once(ctx, over, "loop", http.MethodGet, "/apis/noisy.example.com/v2/namespaces/noisy/loops/one", "", nil, drop)
	})
}
