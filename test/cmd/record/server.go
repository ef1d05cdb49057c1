package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// patience is how long a definition or an object may take to come or to go.
const patience = time.Minute

// client does not verify certificates: it talks to a server for trying out.
var client = &http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// server is the kube-apiserver that is recorded, and story what is recorded of it.
type server struct{ url, token, etcd, story, auditPolicy, auditLog string }

// do sends a request and returns the reply's code and body. headers are names
// and values in turn.
func (s *server) do(ctx context.Context, method, path, body string, headers ...string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, b, err
}

// want is do for requests that must be answered with one of the codes.
func (s *server) want(ctx context.Context, codes []int, method, path, body string, headers ...string) ([]byte, error) {
	if body != "" && len(headers) == 0 {
		headers = []string{"Content-Type", "application/json"}
	}
	code, b, err := s.do(ctx, method, path, body, headers...)
	if err == nil && !slices.Contains(codes, code) {
		err = fmt.Errorf("%s %s: %d %s", method, path, code, b)
	}
	return b, err
}

// get is a GET that must succeed.
func (s *server) get(ctx context.Context, path, accept string) ([]byte, error) {
	return s.want(ctx, []int{200}, "GET", path, "", "Accept", accept)
}

// create makes an object, which may be left from an earlier run.
func (s *server) create(ctx context.Context, path, body string) error {
	_, err := s.want(ctx, []int{201, 409}, "POST", path, body)
	return err
}

// remove deletes an object, if there is one, and waits until it has gone.
func (s *server) remove(ctx context.Context, path string) error {
	if _, err := s.want(ctx, []int{200, 202, 404}, "DELETE", path, ""); err != nil {
		return err
	}
	// What holds it is only the finalizers that a recording shows.
	if _, err := s.want(ctx, []int{200, 404}, "PATCH", path, `{"metadata":{"finalizers":null}}`, "Content-Type", "application/merge-patch+json"); err != nil {
		return err
	}
	return s.await(ctx, path, 404)
}

// await waits until a GET is answered with this code.
func (s *server) await(ctx context.Context, path string, code int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		got, b, err := s.do(ctx, "GET", path, "")
		if err != nil || got == code {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: still %d %s", path, got, b)
		case <-tick.C:
		}
	}
}

// stored returns what etcd holds under a key.
func (s *server) stored(ctx context.Context, key string) ([]byte, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.etcd}, DialTimeout: patience, Context: ctx})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r, err := c.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	if len(r.Kvs) != 1 {
		return nil, fmt.Errorf("etcd has no %s", key)
	}
	return r.Kvs[0].Value, nil
}

// write writes a document, indented, over an earlier recording.
func write(path string, document any) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(document); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// read reads a JSON object from a file.
func read(path string) (map[string]any, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(b)
}

// parse reads a JSON object, with its numbers as they are.
func parse(b []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var o map[string]any
	err := d.Decode(&o)
	if err == nil && o == nil {
		err = errors.New("null is no object")
	}
	return o, err
}
