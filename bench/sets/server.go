package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// server is one of the two servers.
type server struct {
	url, token string
	client     *http.Client
}

func newServer(url, token string) *server {
	return &server{url: url, token: token, client: &http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}}
}

// request is what both servers are asked.
type request struct {
	method, path, media, accept string
	body                        any
}

// answer is what a client sees of a reply.
type answer struct {
	Code     int
	Body     any
	Warnings []string
}

const (
	inJSON  = "application/json"
	asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"
	inApply = "application/apply-patch+yaml"
)

func (s *server) do(r request) (answer, error) {
	var in io.Reader
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			return answer{}, err
		}
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequest(r.method, s.url+r.path, in)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("User-Agent", "sets/1")
	if r.media != "" {
		req.Header.Set("Content-Type", r.media)
	}
	if r.accept != "" {
		req.Header.Set("Accept", r.accept)
	}
	reply, err := s.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = reply.Body.Close() }()
	a := answer{Code: reply.StatusCode, Warnings: reply.Header.Values("Warning")}
	d := json.NewDecoder(reply.Body)
	d.UseNumber() // 1.0 and 1 differ
	if err := d.Decode(&a.Body); err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	return a, nil
}

// until asks until the answer is right, for at most ten seconds.
func (s *server) until(r request, right func(answer) bool) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		a, err := s.do(r)
		if err == nil && right(a) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s%s: %v %d %.300v", s.url, r.path, err, a.Code, a.Body)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// established tells whether a definition's condition says so.
func established(a answer) bool {
	data, _ := json.Marshal(a.Body)
	return bytes.Contains(data, []byte(`"status":"True","type":"Established"`))
}

// Two servers have these otherwise: uids, times, revisions and ages.
var (
	uids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`)
	now  = regexp.MustCompile(`^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$`)
	ages = regexp.MustCompile(`^[0-9]+(ms|s|m)$`)
)

// masked is a value without what no two servers have in common. The times in an object's
// own fields are both the same and stay.
func masked(v any, in string) any {
	switch x := v.(type) {
	case map[string]any:
		delete(x, "resourceVersion")
		for k, item := range x {
			x[k] = masked(item, k)
		}
		unordered(x)
	case []any:
		for i, item := range x {
			x[i] = masked(item, in)
		}
	case string:
		switch {
		case in == "creationTimestamp" || in == "time" || in == "lastTransitionTime" || in == "deletionTimestamp":
			if now.MatchString(x) && strings.HasPrefix(x, time.Now().UTC().Format("2006-01-")) {
				return "NOW"
			}
		case in == "cells" && (ages.MatchString(x) || x == "<unknown>"):
			return "AGE"
		}
		return uids.ReplaceAllString(x, "UID")
	}
	return v
}

// unordered takes away order where kube-apiserver has none, as it goes through Go's maps:
// of the causes of a Status; the conditions of a definition, and its managers, one of which
// is the server itself; and an empty token of a list.
func unordered(x map[string]any) {
	if x["continue"] == "" {
		delete(x, "continue")
	}
	if x["kind"] == "CustomResourceDefinition" {
		if about, ok := x["metadata"].(map[string]any); ok {
			delete(about, "managedFields")
		}
	}
	for _, name := range []string{"causes", "conditions"} {
		if list, ok := x[name].([]any); ok && (x["kind"] != nil || x["storedVersions"] != nil) {
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	if message, ok := x["message"].(string); ok && x["kind"] == "Status" {
		parts := strings.FieldsFunc(message, func(r rune) bool { return r == ',' || r == '[' || r == ']' || r == ' ' })
		slices.Sort(parts)
		x["message"] = strings.Join(parts, " ")
	}
}
