package flows

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Server is who is asked, with the token of an administrator.
type Server struct {
	Client     *http.Client
	URL, Token string
}

// Line is a request and what it fell under, both as they are recorded.
type Line struct{ Heading, Under string }

// Tell makes the schemas, waits until they are in force, sends all requests, and takes
// the schemas away.
func (s *Server) Tell(ctx context.Context) (lines []Line, err error) {
	defer func() {
		if e := s.clear(context.WithoutCancel(ctx)); err == nil {
			err = e
		}
	}()
	if err := s.make(ctx); err != nil {
		return nil, err
	}
	names, err := s.names(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx, names); err != nil {
		return nil, err
	}
	for _, r := range Requests() {
		under, err := s.under(ctx, r, names)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Heading(), err)
		}
		lines = append(lines, Line{r.Heading(), under})
	}
	return lines, nil
}

// make makes the level and the schemas anew.
func (s *Server) make(ctx context.Context) error {
	if err := s.clear(ctx); err != nil {
		return err
	}
	if err := s.create(ctx, levelsPath, levelBody); err != nil {
		return err
	}
	for _, one := range schemas() {
		if err := s.create(ctx, schemasPath, one.body()); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

func (s *Server) create(ctx context.Context, path, body string) error {
	code, _, text, err := s.send(ctx, Request{Method: http.MethodPost, Path: path, Body: body})
	if err == nil && code != http.StatusCreated {
		err = fmt.Errorf("%d %s", code, text)
	}
	return err
}

func (s *Server) clear(ctx context.Context) error {
	gone := []string{levelsPath + "/" + own}
	for _, one := range schemas() {
		gone = append(gone, schemasPath+"/"+one.name)
	}
	for _, path := range gone {
		if _, _, _, err := s.send(ctx, Request{Method: http.MethodDelete, Path: path}); err != nil {
			return err
		}
	}
	return nil
}

// await sends a request until it falls under the schema that was made last.
func (s *Server) await(ctx context.Context, names map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		under, err := s.under(ctx, Request{Method: http.MethodGet, Path: "/version", User: ready}, names)
		if err != nil || under == ready+" "+own {
			return err
		}
	}
}

// names are the names of schemas and levels by their UIDs.
func (s *Server) names(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, path := range []string{schemasPath, levelsPath} {
		_, _, text, err := s.send(ctx, Request{Method: http.MethodGet, Path: path})
		if err != nil {
			return nil, err
		}
		var list struct {
			Items []struct {
				Metadata struct{ Name, UID string }
			}
		}
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			out[item.Metadata.UID] = item.Metadata.Name
		}
	}
	return out, nil
}

// under is the schema and the level that a request fell under, or "-" if the reply names none.
func (s *Server) under(ctx context.Context, r Request, names map[string]string) (string, error) {
	_, header, _, err := s.send(ctx, r)
	if err != nil {
		return "", err
	}
	var out []string
	for _, name := range []string{"X-Kubernetes-PF-FlowSchema-UID", "X-Kubernetes-PF-PriorityLevel-UID"} {
		uid := header.Get(name)
		switch named, known := names[uid]; {
		case uid == "":
			out = append(out, "-")
		case known:
			out = append(out, named)
		default:
			return "", fmt.Errorf("%s is of nobody: %s", name, uid)
		}
	}
	return strings.Join(out, " "), nil
}

// send sends a request and reads the reply to its end.
func (s *Server) send(ctx context.Context, r Request) (int, http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, s.URL+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return 0, nil, nil, err
	}
	if r.User != Anonymous {
		req.Header.Set("Authorization", "Bearer "+s.Token)
	}
	if r.User != Anonymous && r.User != "" {
		req.Header.Set("Impersonate-User", r.User)
		req.Header["Impersonate-Group"] = r.Groups
	}
	switch r.Method {
	case http.MethodPatch:
		req.Header.Set("Content-Type", "application/merge-patch+json")
	case http.MethodPost, http.MethodPut:
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(r.Headers); i += 2 {
		req.Header.Set(r.Headers[i], r.Headers[i+1])
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, text, err
}
