package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// Metrics counts what is kept, and what is not.
type Metrics interface {
	// AuditLevel counts a request by the level that its rule says.
	AuditLevel(level string)
	// AuditEvent counts an event.
	AuditEvent()
	// AuditErrors counts events that a part of the way did not pass on.
	AuditErrors(plugin string, events int)
	// AuditRejected counts a request that was refused as it could not be kept.
	AuditRejected()
	// AuditLeftOut counts an event of nobody known that was one too many.
	AuditLeftOut()
}

// Config is what a [Trail] needs. A trail without a sink keeps nothing.
type Config struct {
	// Policy says what is kept.
	Policy *Policy
	// File is where events are written, nil for nowhere, and Server who gets them.
	File    *File
	Server  *Server
	Metrics Metrics
	// Unknown is how many events of refused requests of nobody known are kept in a
	// minute, 0 for all.
	Unknown int
	// Log is told of what is lost.
	Log zerolog.Logger
}

// Trail is an [api.Auditor] that passes events on to sinks.
type Trail struct {
	c       Config
	sinks   []*pipe
	unknown unknown
}

// Open opens the sinks. The error is about one of them, by its flag.
func Open(c Config) (*Trail, error) {
	c.Log = c.Log.With().Str("component", "audit").Logger()
	t := &Trail{c: c}
	t.unknown.most, t.unknown.tell = c.Unknown, t.tellLeftOut
	if c.File != nil {
		out, err := c.File.open()
		if err != nil {
			return nil, fmt.Errorf("--audit-log-path: %w", err)
		}
		t.sinks = append(t.sinks, newPipe(out, c.File.Passing, c))
	}
	if c.Server != nil {
		out, err := c.Server.open()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("--audit-webhook-config-file: %w", err), t.Close(context.Background()))
		}
		t.sinks = append(t.sinks, newPipe(out, c.Server.Passing, c))
	}
	return t, nil
}

// Judge implements [api.Auditor].
func (t *Trail) Judge(i *api.Info, by *authn.User) api.Keep {
	k := t.c.Policy.judge(i, by)
	t.c.Metrics.AuditLevel(k.Level.String())
	return k
}

// Audit implements [api.Auditor].
func (t *Trail) Audit(a *api.Audit) bool {
	if t.unknown.leavesOut(a) {
		t.c.Metrics.AuditLeftOut()
		return true
	}
	return t.keep(a)
}

// tellLeftOut has an event, and a line of the log, say what was left out.
func (t *Trail) tellLeftOut(left leftOut) {
	t.keep(left.record())
	t.c.Log.Warn().Int("events", left.all).Str("from", left.networks()).Msg("audit events of refused requests of nobody known were left out")
}

// keep passes an event on.
func (t *Trail) keep(a *api.Audit) bool {
	t.c.Metrics.AuditEvent()
	e, ok := &event{record: a}, true
	for _, s := range t.sinks {
		ok = s.take(e) && ok
	}
	if !ok && a.Stage == api.Received {
		t.c.Metrics.AuditRejected()
	}
	return ok
}

// Check is a health check that tells what is lost.
func (t *Trail) Check(context.Context) error {
	var errs []error
	for _, s := range t.sinks {
		errs = append(errs, s.state.check(time.Now()))
	}
	return errors.Join(errs...)
}

// Close passes on what waits, until ctx ends, and closes the sinks; what comes later
// is lost.
func (t *Trail) Close(ctx context.Context) error {
	for _, s := range t.sinks { // which may hang, with what is told now, too
		defer context.AfterFunc(ctx, s.stop)()
	}
	t.unknown.flush()
	var errs []error
	for _, s := range t.sinks {
		errs = append(errs, s.close(ctx))
	}
	return errors.Join(errs...)
}
