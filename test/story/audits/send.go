package audits

import (
	"context"
	"io"
	"net/http"
	"strings"
)

// Send sends a request under a name, to its end.
func Send(ctx context.Context, client *http.Client, url, id string, r Request) error {
	req, err := http.NewRequestWithContext(ctx, r.Method, url+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", Agent)
	req.Header.Set("Audit-Id", id)
	switch r.Token {
	case "":
		req.Header.Set("Authorization", "Bearer "+AdminToken)
	case "-":
	default:
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	if r.Type != "" {
		req.Header.Set("Content-Type", r.Type)
	}
	for i := 0; i+1 < len(r.Headers); i += 2 {
		req.Header.Set(r.Headers[i], r.Headers[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
