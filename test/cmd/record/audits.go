package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/test/story/audits"
)

// recordAudits records the events of the policy that --audit-policy names, of a server
// that was started with it and with audits.Tokens, and writes its log to --audit-log.
func recordAudits(ctx context.Context, s *server) error {
	if s.auditLog == "" {
		return nil
	}
	for _, p := range audits.Policies {
		if p.Name != s.auditPolicy {
			continue
		}
		var out strings.Builder
		for n, r := range audits.Requests {
			if err := audits.Send(ctx, client, s.url, audits.ID(p.Name, n), r); err != nil {
				return fmt.Errorf("%s: %w", r.Heading(), err)
			}
		}
		time.Sleep(2 * time.Second) // an event is written when its reply was
		log, err := os.ReadFile(s.auditLog)
		if err != nil {
			return err
		}
		for n, r := range audits.Requests {
			events, err := audits.Events(log, audits.ID(p.Name, n))
			if err != nil {
				return err
			}
			fmt.Fprintln(&out, r.Heading())
			for _, e := range events {
				fmt.Fprintln(&out, "> "+e)
			}
		}
		return os.WriteFile(filepath.Join("test/recorded", audits.Table, p.Name+".txt"), []byte(out.String()), 0o644)
	}
	return fmt.Errorf("there is no policy %q", s.auditPolicy)
}
