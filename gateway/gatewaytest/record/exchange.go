package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/admissions"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/generated"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/requests"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/rules"
)

// recordRules records the stories of rules and definitions.
func recordRules(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, rules.Stories(), rules.File, exchange.HTTP(client, s.url, s.token))
}

// recordGenerated records stories from a seed.
func recordGenerated(ctx context.Context, s *server) error {
	send := exchange.HTTP(client, s.url, s.token)
	if err := s.recordExchange(ctx, generated.Stories(1, generated.Recorded), generated.File, send); err != nil {
		return err
	}
	return s.recordExchange(ctx, generated.VersionsStories(1, generated.VersionsRecorded), generated.VersionsFile, send)
}

// recordRequests records the table of requests.
func recordRequests(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, requests.Stories(), requests.File, exchange.HTTP(client, s.url, s.token))
}

// recordAdmissions records what policies and webhooks decide.
func recordAdmissions(ctx context.Context, s *server) error {
	hook := admissions.NewServer()
	defer hook.Close()
	stories := admissions.Stories()
	if err := s.recordExchange(ctx, stories, admissions.File, hook.Via(exchange.HTTP(client, s.url, s.token))); err != nil {
		return err
	}
	ended := []string{admissions.Ending}
	for _, story := range stories {
		ended = append(ended, admissions.Namespace(story))
	}
	for _, path := range ended {
		// No controller ends the namespaces here.
		if _, _, err := s.do(ctx, "DELETE", path+"/configmaps", ""); err != nil {
			return err
		}
		body := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + filepath.Base(path) + `"},"spec":{"finalizers":[]}}`
		if _, _, err := s.do(ctx, "PUT", path+"/finalize", body, "Content-Type", "application/json"); err != nil {
			return err
		}
	}
	return nil
}

// recordExchange tells stories and writes down the replies.
func (s *server) recordExchange(ctx context.Context, stories []exchange.Story, file string, send exchange.Send) error {
	recording := exchange.Recording{}
	for _, story := range stories {
		replies, err := story.Tell(ctx, send)
		if err == nil {
			err = recording.Record(story.Name, replies)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", story.Name, err)
		}
	}
	return recording.Save(file)
}
