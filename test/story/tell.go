package story

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// patience is how long a definition may take to come, to change or to go.
const patience = 30 * time.Second

// Send sends a request and returns the reply's code, header and body.
type Send func(ctx context.Context, step Step) (int, http.Header, []byte, error)

// HTTP sends to a server with a bearer token.
func HTTP(client *http.Client, url, token string) Send {
	return func(ctx context.Context, step Step) (int, http.Header, []byte, error) {
		req, err := http.NewRequestWithContext(ctx, step.Method, url+step.Path, strings.NewReader(step.Body))
		if err != nil {
			return 0, nil, nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		if step.Type != "" {
			req.Header.Set("Content-Type", step.Type)
		}
		if step.Accept != "" {
			req.Header.Set("Accept", step.Accept)
		}
		for i := 0; i+1 < len(step.Headers); i += 2 {
			if step.Headers[i] == "Authorization" {
				req.Header.Del("Authorization") // the step's own counts, "" being none
			}
			req.Header.Add(step.Headers[i], step.Headers[i+1])
		}
		resp, err := client.Do(req)
		if err != nil {
			return 0, nil, nil, err
		}
		defer resp.Body.Close()
		b, err := read(step, resp)
		return resp.StatusCode, resp.Header, b, err
	}
}

// Tell tells a story to a server, which it leaves without the definition. It
// returns the replies to the creation of the definition, if there is one, and
// to each step.
func (s Story) Tell(ctx context.Context, send Send) ([]Reply, error) {
	var replies []Reply
	seen := &sightings{shared: s.Shared}
	send = following(send)
	if err := s.pass(ctx, send, s.Before); err != nil {
		return nil, err
	}
	if s.Definition != "" {
		r, err := s.begin(ctx, send)
		r.unorderedCauses = s.Unordered
		if err != nil || r.Code != http.StatusCreated {
			return []Reply{r}, err
		}
		replies = append(replies, r)
	}
	for i, step := range s.Steps {
		seen.next(i)
		r, err := s.step(ctx, send, seen, step)
		if err == nil && step.Await != nil && r.Code < 300 {
			_, err = s.step(ctx, send, &sightings{}, *step.Await)
		}
		if err != nil {
			return nil, fmt.Errorf("step %d, %s %s: %w", i, step.Method, step.Path, err)
		}
		r.unorderedCauses = s.Unordered
		replies = append(replies, r)
	}
	if s.Definition == "" {
		return replies, s.pass(ctx, send, s.After)
	}
	_, _, _, err := send(ctx, Step{Method: "DELETE", Path: s.definition()})
	return replies, err
}

// pass sends requests whose replies do not count.
func (s Story) pass(ctx context.Context, send Send, steps []Step) error {
	for _, step := range steps {
		if _, err := s.step(ctx, send, &sightings{}, step); err != nil {
			return fmt.Errorf("%s %s: %w", step.Method, step.Path, err)
		}
	}
	return nil
}

// begin removes what an earlier run left, creates the definition, and waits
// until it is served.
func (s Story) begin(ctx context.Context, send Send) (Reply, error) {
	if _, _, _, err := send(ctx, Step{Method: "DELETE", Path: s.definition()}); err != nil {
		return Reply{}, err
	}
	gone := Step{Method: "GET", Path: s.definition(), Until: `"NotFound"`}
	if _, err := s.step(ctx, send, &sightings{}, gone); err != nil {
		return Reply{}, err
	}
	r, err := s.step(ctx, send, &sightings{}, Step{Method: "POST", Path: Definitions, Type: JSON, Body: s.Definition, Brief: true})
	if err == nil && r.Code != http.StatusCreated && !s.Doubtful {
		err = fmt.Errorf("the definition is refused: %d %v", r.Code, r.Body)
	}
	if err != nil || r.Code != http.StatusCreated {
		return r, err
	}
	_, err = s.step(ctx, send, &sightings{}, Step{Method: "GET", Path: s.Things("v1"), Until: `"items":[`})
	return r, err
}

// step sends one request, again and again where its reply has to wait.
func (s Story) step(ctx context.Context, send Send, seen *sightings, step Step) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		code, header, b, err := send(ctx, step)
		if err != nil {
			return Reply{}, err
		}
		// kube-apiserver says so for a moment after a definition changed.
		settling := code == http.StatusTooManyRequests
		if !settling && strings.Contains(string(b), step.Until) {
			return newReply(step, code, header, b, seen)
		}
		select {
		case <-ctx.Done():
			return Reply{}, fmt.Errorf("it does not answer %q: %d %.300s", step.Until, code, b)
		case <-tick.C:
		}
	}
}
