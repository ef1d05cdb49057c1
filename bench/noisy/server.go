package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// server is one that is measured, as one of its users sees it.
type server struct {
	name, url, token string
	pid              int
}

// newTransport is one of HTTP/1.1 with connections of its own.
func newTransport() *http.Transport {
	return &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableCompression: true, MaxIdleConnsPerHost: 64,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
}

// ask sends a request. The reply has to be closed.
func (s *server) ask(ctx context.Context, over http.RoundTripper, method, path, kind string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	return over.RoundTrip(req)
}

const (
	inJSON  = "application/json"
	inMerge = "application/merge-patch+json"
)

// do sends a request and reads the reply, which has to be a success or one of allowed.
func (s *server) do(ctx context.Context, method, path, kind string, body []byte, allowed ...int) ([]byte, error) {
	over := newTransport()
	defer over.CloseIdleConnections()
	resp, err := s.ask(ctx, over, method, path, kind, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	for _, code := range allowed {
		if resp.StatusCode == code {
			return reply, err
		}
	}
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %.300s", method, path, resp.Status, reply)
	}
	return reply, err
}

// create makes an object, or leaves the one that is there.
func (s *server) create(ctx context.Context, path string, object any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	_, err = s.do(ctx, http.MethodPost, path, inJSON, data, http.StatusConflict)
	return err
}

// until asks until a reply is as wanted.
func (s *server) until(ctx context.Context, path string, is func(reply []byte) bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		reply, err := s.do(ctx, http.MethodGet, path, "", nil)
		if err == nil && is(reply) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("GET %s: %w; last %.300s", path, err, reply)
		}
	}
}

// watchMemory reads how much memory the process holds, in MB, until the function that it
// returns tells the most of it.
func (s *server) watchMemory() (most func() float64) {
	stop, result := make(chan struct{}), make(chan float64)
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		var top float64
		for {
			top = max(top, s.resident())
			select {
			case <-tick.C:
			case <-stop:
				result <- top
				return
			}
		}
	}()
	return func() float64 {
		close(stop)
		return <-result
	}
}

// resident is 0 for a process that is not known.
func (s *server) resident() float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.pid))
	if f := strings.Fields(string(b)); err == nil && len(f) > 1 {
		pages, _ := strconv.ParseFloat(f[1], 64) // what the kernel writes is a number
		return pages * float64(os.Getpagesize()) / 1e6
	}
	return 0
}
