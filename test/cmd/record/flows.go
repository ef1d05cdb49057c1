package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wasmgate/wasmgate/test/story/flows"
)

// recordFlows records which flow schemas and levels requests fall under.
func recordFlows(ctx context.Context, s *server) error {
	lines, err := (&flows.Server{Client: client, URL: s.url, Token: s.token}).Tell(ctx)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&out, "%s\n> %s\n", line.Heading, line.Under)
	}
	return os.WriteFile(filepath.Join("test/recorded", flows.Table, flows.Table+".txt"), []byte(out.String()), 0o644)
}
