package api

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/rs/zerolog"
)

// At -v 4 each request is a line that says who asked for what, and how that
// ended; without it there is none.
func TestRequestsAreLoggedAtDebug(t *testing.T) {
	for level, lines := range map[zerolog.Level]int{zerolog.DebugLevel: 1, zerolog.InfoLevel: 0} {
		var log bytes.Buffer
		w := newWorld(t, func(c *Setup) { c.Log = zerolog.New(&log).Level(level) })
		log.Reset()
		w.do("GET", "/api/v1/namespaces?limit=1", "", "Authorization: Bearer bob").want(403, "")
		if got := bytes.Count(log.Bytes(), []byte("\n")); got != lines {
			t.Fatalf("%d lines: %s", got, log.Bytes())
		}
		if lines == 0 {
			continue
		}
		var line map[string]any
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		for field, want := range map[string]any{"level": "debug", "verb": "list", "path": "/api/v1/namespaces", "query": "limit=1", "user": "bob", "code": 403.0} {
			if line[field] != want {
				t.Errorf("%s is %v, want %v", field, line[field], want)
			}
		}
	}
}
