package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

// target is a server under test.
type target struct {
	name, url, token string
	pid              int
	// idle and before are its memory when it was found and when its objects
	// were about to be created, in MB; perObject is in KB.
	idle, before, perObject float64
}

// usage is what a process used so far.
type usage struct {
	cpu time.Duration
	rss float64 // MB
}

// usage reads the server's CPU time and memory, so that the load generator's
// share of the machine does not count. It is zero when the process is unknown.
func (t *target) usage() usage {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.pid))
	if t.pid == 0 || err != nil {
		return usage{}
	}
	// The fields after the program's name, which may hold spaces: utime and
	// stime in ticks of 10 ms, and the resident pages.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+2:]))
	ticks := func(i int) float64 { v, _ := strconv.ParseFloat(f[i], 64); return v }
	return usage{
		cpu: time.Duration((ticks(11) + ticks(12)) * float64(10*time.Millisecond)),
		rss: ticks(21) * float64(os.Getpagesize()) / 1e6,
	}
}

// client is shared by all targets. It checks no certificate: what is measured
// is the server.
var client = &fasthttp.Client{
	TLSConfig:                 &tls.Config{InsecureSkipVerify: true},
	MaxConnsPerHost:           4096,
	MaxResponseBodySize:       1 << 30,
	ReadTimeout:               2 * time.Minute,
	MaxIdemponentCallAttempts: 1,
	ReadBufferSize:            1 << 16,
}

// header is a header of a request; an empty value stands for none.
type header struct{ name, value string }

// send does a request and hands the reply to use, for which it is valid during
// the call only.
func (t *target) send(method, path string, body []byte, use func(*fasthttp.Response), headers ...header) error {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.SetRequestURI(t.url + path)
	req.Header.SetMethod(method)
	req.Header.Set("Authorization", "Bearer "+t.token)
	for _, h := range headers {
		if h.value != "" {
			req.Header.Set(h.name, h.value)
		}
	}
	req.SetBodyRaw(body)
	if err := client.Do(req, resp); err != nil {
		return err
	}
	use(resp)
	return nil
}

// do does a request and returns its reply.
func (t *target) do(method, path, kind, accept string, body []byte) (code int, reply []byte, err error) {
	err = t.send(method, path, body, func(r *fasthttp.Response) {
		code, reply = r.StatusCode(), bytes.Clone(r.Body())
	}, header{"Content-Type", kind}, header{"Accept", accept})
	return code, reply, err
}

// ok does a request and fails unless the code is one of success. The reply is
// not looked at.
func (t *target) ok(method, path, kind, accept string, body []byte) error {
	var failed error
	err := t.send(method, path, body, func(r *fasthttp.Response) {
		if code := r.StatusCode(); code >= 300 {
			failed = fmt.Errorf("%s %s: %d %.200s", method, path, code, r.Body())
		}
	}, header{"Content-Type", kind}, header{"Accept", accept})
	if err != nil {
		return err
	}
	return failed
}

// wait repeats a GET until it has a code.
func (t *target) wait(path string, code int) error {
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		got, body, err := t.do("GET", path, "", jsonType, nil)
		if err == nil && got == code {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("GET %s: want %d, got %d %v %.200s", path, code, got, err, body)
		}
		<-tick.C
	}
}

// contains does a GET, unless the reply is still the one tagged etag, and tells
// whether it contains text.
func (t *target) contains(path, accept, etag, text string) (code int, found bool, next string, err error) {
	err = t.send("GET", path, nil, func(r *fasthttp.Response) {
		code, found, next = r.StatusCode(), bytes.Contains(r.Body(), []byte(text)), string(r.Header.Peek("Etag"))
	}, header{"Accept", accept}, header{"If-None-Match", etag})
	return code, found, next, err
}
