package api

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
)

func TestLifetime(t *testing.T) {
	seconds := func(n int64) *internalversion.ListOptions { return &internalversion.ListOptions{TimeoutSeconds: &n} }
	for n, want := range map[int64]time.Duration{1: time.Second, 600: 10 * time.Minute, 1 << 62: maxLifetime} {
		if got := lifetime(seconds(n), time.Minute); got != want {
			t.Errorf("%d seconds: %s", n, got)
		}
	}
	for _, o := range []*internalversion.ListOptions{{}, seconds(0), seconds(-5)} {
		for range 100 {
			if got := lifetime(o, time.Minute); got < time.Minute || got > 2*time.Minute {
				t.Errorf("without a time: %s", got)
			}
		}
	}
}
