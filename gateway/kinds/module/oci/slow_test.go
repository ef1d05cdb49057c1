package oci_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci"
)

// apart is a network on which one host sends a little now and then, and others have nothing.
type apart struct {
	slow  string
	asked map[string]time.Duration
	begun time.Time
}

func (a *apart) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, asked := a.asked[r.URL.Host]; !asked {
		a.asked[r.URL.Host] = time.Since(a.begun)
	}
	if strings.HasPrefix(r.URL.Host, a.slow) {
		header := http.Header{"Content-Type": {ocispec.MediaTypeImageManifest}, "Docker-Content-Digest": {digest.FromString("x").String()}}
		return &http.Response{StatusCode: http.StatusOK, Header: header, ContentLength: 1000, Body: io.NopCloser(trickle{r.Context()}), Request: r}, nil
	}
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// trickle is a body with a byte now and then, until its request ends.
type trickle struct{ ctx context.Context }

func (t trickle) Read(p []byte) (int, error) {
	select {
	case <-time.After(20 * time.Second):
		p[0] = ' '
		return 1, nil
	case <-t.ctx.Done():
		return 0, t.ctx.Err()
	}
}

// A mirror that sends a little now and then does not take the time of those after it, nor
// of the registry itself, which has all that is left.
func TestASlowMirrorLeavesTimeForTheNext(t *testing.T) {
	folder := t.TempDir()
	c := said(t, folder, "- {prefix: r.example.com, mirrors: [{location: slow.example.com}, {location: slow2.example.com}]}\n")
	for slow, last := range map[string]time.Duration{"slow": 200 * time.Second, "none": 0} {
		synctest.Test(t, func(t *testing.T) {
			network := &apart{slow: slow, asked: map[string]time.Duration{}, begun: time.Now()}
			c := oci.Client{MaxBytes: 1000, Registries: c.Registries, Transport: network}
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Second)
			defer cancel()
			_, err := c.Pull(ctx, "r.example.com/tabs:v1", oci.Login{})
			var failed *oci.Error
			if !errors.As(err, &failed) || failed.Reason != oci.ImageNotFound || network.asked["r.example.com"] != last || ctx.Err() != nil {
				t.Errorf("%s: %v, asked %v", slow, err, network.asked)
			}
			if told := strings.Count(err.Error(), "PullFailed: it took longer than its share of the time"); told != map[string]int{"slow": 2}[slow] {
				t.Errorf("%s: %v", slow, err)
			}
		})
	}
}
