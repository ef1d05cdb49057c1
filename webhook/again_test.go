package webhook

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// A server that is busy is asked again when it says, as kube-apiserver does, and one that
// is done with other codes than 200 is done.
func TestServersAreAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		code  int
		after string
		tries int
		good  bool
	}{
		"created": {201, "", 1, true}, "partial": {206, "", 1, true}, "several": {207, "", 1, false},
		"unavailable": {503, "0", 2, true}, "too many": {429, "0", 2, true}, "broken": {500, "0", 2, true},
		"unavailable for ever": {503, "", 1, false}, "not found": {404, "0", 1, false}, "when that is": {503, "Wed, 21 Oct 2015 07:28:00 GMT", 1, false},
		"later than there is time": {503, "30", 1, false}, "before": {503, "-1", 1, false},
	} {
		asked := 0
		client := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked == 1 {
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.code)
			}
			_, _ = w.Write([]byte("{}"))
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		reply, err := client.Post(ctx, nil)
		cancel()
		if asked != c.tries || (err == nil) != c.good || c.good && string(reply) != "{}" {
			t.Errorf("%s: asked %d times: %s, %v", name, asked, reply, err)
		}
	}
	asked := 0
	client := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(503)
	}))
	if _, err := client.Post(t.Context(), nil); err == nil || asked != maxTries {
		t.Errorf("one that is always busy: asked %d times: %v", asked, err)
	}
}
