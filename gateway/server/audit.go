package server

import (
	"context"
	"fmt"
	"time"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/audit"
	"github.com/wasmgate/wasmgate/gateway/health"
)

// flushTimeout is how long events may take to be passed on at shutdown.
const flushTimeout = 10 * time.Second

// auditor opens what keeps records of requests, if there is to be one.
func (g *gateway) auditor() (api.Auditor, error) {
	o := g.options.Audit
	c := audit.Config{Metrics: g.metrics, Log: g.log, Unknown: o.UnknownPerMinute}
	if o.PolicyFile != "" {
		var err error
		if c.Policy, err = audit.LoadPolicy(o.PolicyFile); err != nil {
			return nil, fmt.Errorf("--audit-policy-file: %w", err)
		}
	}
	if o.LogPath != "" {
		c.File = &audit.File{
			Path: o.LogPath, MaxMegabytes: o.LogMaxSize, Backups: o.LogMaxBackup, Days: o.LogMaxAge, Compress: o.LogCompress,
			Format: o.LogFormat, Passing: o.Log,
		}
	}
	if o.WebhookConfigFile != "" {
		c.Server = &audit.Server{Kubeconfig: o.WebhookConfigFile, Backoff: o.WebhookInitialBackoff, Passing: o.Webhook}
	}
	if c.File == nil && c.Server == nil {
		return nil, nil
	}
	var err error
	if g.audit, err = audit.Open(c); err != nil {
		return nil, err
	}
	// Whether events are kept is no reason to send nobody here any more, or to start
	// again: it is told where operators look, and not to who balances load.
	g.health.Add("audit", g.audit.Check, health.Healthz)
	return g.audit, nil
}

// flush passes on what is kept of requests and still waits.
func (g *gateway) flush(ctx context.Context) error {
	if g.audit == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	return g.audit.Close(ctx)
}
