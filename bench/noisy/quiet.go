package main

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// took is how long requests took, and how many failed.
type took struct {
	all    []time.Duration
	failed int
}

// at is a quantile.
func (t took) at(q float64) time.Duration {
	if len(t.all) == 0 {
		return 0
	}
	return t.all[int(q*float64(len(t.all)-1))].Round(10 * time.Microsecond)
}

const (
	// quietClients each send a request every quietPace.
	quietClients = 4
	quietPace    = 20 * time.Millisecond
)

// quietly has the quiet tenant read, and change, a small object for some time.
func (t *tenants) quietly(ctx context.Context, length time.Duration) took {
	var mu sync.Mutex
	var out took
	var clients sync.WaitGroup
	over := newTransport()
	defer over.CloseIdleConnections()
	end := time.Now().Add(length)
	for client := range quietClients {
		clients.Go(func() {
			tick := time.NewTicker(quietPace)
			defer tick.Stop()
			for i := 0; time.Now().Before(end) && ctx.Err() == nil; i++ {
				<-tick.C
				begun := time.Now()
				ok := t.small(ctx, over, client, i)
				spent := time.Since(begun)
				mu.Lock()
				out.all = append(out.all, spent)
				if !ok {
					out.failed++
				}
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	slices.Sort(out.all)
	return out
}

// small is one request in three that changes something, and the others read it.
func (t *tenants) small(ctx context.Context, over http.RoundTripper, client, i int) bool {
	method, kind, body := http.MethodGet, "", []byte(nil)
	if i%3 == 0 {
		method, kind, body = http.MethodPatch, inMerge, []byte(`{"data":{"n`+strconv.Itoa(client)+`":"`+strconv.Itoa(i)+`"}}`)
	}
	resp, err := t.quiet.ask(ctx, over, method, configMaps("quiet")+"/small", kind, body)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}
