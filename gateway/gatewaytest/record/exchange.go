package main

import (
	"context"
	"fmt"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/generated"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/requests"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/rules"
)

// recordRules records the stories of rules and definitions.
func recordRules(ctx context.Context, s *server) error {
	return recordExchange(ctx, s, rules.Stories(), rules.File)
}

// recordGenerated records stories from a seed.
func recordGenerated(ctx context.Context, s *server) error {
	return recordExchange(ctx, s, generated.Stories(1, generated.Recorded), generated.File)
}

// recordRequests records the table of requests.
func recordRequests(ctx context.Context, s *server) error {
	return recordExchange(ctx, s, requests.Stories(), requests.File)
}

// recordExchange tells stories and writes down the replies.
func recordExchange(ctx context.Context, s *server, stories []exchange.Story, file string) error {
	recording := exchange.Recording{}
	for _, story := range stories {
		replies, err := story.Tell(ctx, exchange.HTTP(client, s.url, s.token))
		if err == nil {
			err = recording.Record(story.Name, replies)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", story.Name, err)
		}
	}
	return recording.Save(file)
}
