package etcd

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// start runs an embedded server with a client listener in dir.
func start(t testing.TB, dir string) *Embedded {
	t.Helper()
	return startWith(t, EmbeddedConfig{Dir: dir, ListenClientURL: "http://127.0.0.1:0"})
}

// startAlone runs an embedded server that nobody else can reach.
func startAlone(t testing.TB) *Embedded {
	t.Helper()
	return startWith(t, EmbeddedConfig{Dir: t.TempDir()})
}

func startWith(t testing.TB, c EmbeddedConfig) *Embedded {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c.Logger = zerolog.New(zerolog.NewTestWriter(t))
	e, err := StartEmbedded(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

// connect opens a store over the listener of e.
func connect(t testing.TB, e *Embedded) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Endpoints: []string{e.ClientURL()}, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
