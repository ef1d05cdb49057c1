package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/admissions"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/builtins"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/generated"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/layouts"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/quotas"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/refusals"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/requests"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/rules"
)

// recordRefusals records how bad requests are refused.
func recordRefusals(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, refusals.Stories(), refusals.File, exchange.HTTP(client, s.url, s.token))
}

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

// recordBuiltInRequests records the table of requests for each built-in kind.
func recordBuiltInRequests(ctx context.Context, s *server) error {
	stories, err := builtins.Stories()
	if err != nil {
		return err
	}
	for _, story := range stories {
		replies, err := story.Tell(ctx, exchange.HTTP(client, s.url, s.token))
		if err != nil {
			return fmt.Errorf("%s: %w", story.Name, err)
		}
		texts, err := builtins.Texts(replies)
		if err == nil {
			err = story.Pack(filepath.Join(builtins.Recordings, story.Name+".json.gz"), texts)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", story.Name, err)
		}
	}
	return nil
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
	return s.end(ctx, ended, []string{"configmaps"})
}

// recordQuotas records what LimitRanges and ResourceQuotas decide.
func recordQuotas(ctx context.Context, s *server) error {
	stories := quotas.Stories()
	if err := s.recordExchange(ctx, stories, quotas.File, exchange.HTTP(client, s.url, s.token)); err != nil {
		return err
	}
	var ended []string
	for _, story := range stories {
		ended = append(ended, quotas.Namespace(story))
	}
	return s.end(ctx, ended, quotas.Collections)
}

// recordLayouts records built-in kinds at versions with other fields.
func recordLayouts(ctx context.Context, s *server) error {
	stories := layouts.Stories()
	if err := s.recordExchange(ctx, stories, layouts.File, exchange.HTTP(client, s.url, s.token)); err != nil {
		return err
	}
	var ended []string
	for _, story := range stories {
		ended = append(ended, layouts.Namespace(story))
	}
	return s.end(ctx, ended, layouts.Collections)
}

// end ends namespaces with what is in them, as no controller does here.
func (s *server) end(ctx context.Context, namespaces, collections []string) error {
	for _, path := range namespaces {
		for _, c := range collections {
			if err := s.empty(ctx, path+"/"+c); err != nil {
				return err
			}
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

// empty deletes all objects of a collection, whatever holds them up.
func (s *server) empty(ctx context.Context, collection string) error {
	if _, _, err := s.do(ctx, "DELETE", collection, ""); err != nil {
		return err
	}
	b, err := s.get(ctx, collection, "")
	if err != nil {
		return err
	}
	var left struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := json.Unmarshal(b, &left); err != nil {
		return err
	}
	for _, item := range left.Items {
		if _, _, err := s.do(ctx, "PATCH", collection+"/"+item.Metadata.Name, `{"metadata":{"finalizers":null}}`, "Content-Type", exchange.MergePatch); err != nil {
			return err
		}
	}
	return nil
}
