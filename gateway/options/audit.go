package options

import (
	"slices"
	"strings"
	"time"
)

// Audit is what is kept of requests, and where.
type Audit struct {
	// PolicyFile says what is kept; without it that is the metadata of all.
	PolicyFile string
	// UnknownPerMinute is how many events are kept in a minute of refused requests of
	// nobody known; 0 is all.
	UnknownPerMinute int
	// LogPath is the file that events are written to, "-" for the standard output;
	// empty means none.
	LogPath string
	// LogMaxSize is how large it gets before another is begun, in megabytes, 0 for as
	// large as it gets; LogMaxBackup how many of those before are kept, and LogMaxAge
	// for how many days; 0 is all, and for ever. LogCompress compresses them.
	LogMaxSize, LogMaxBackup, LogMaxAge int
	LogCompress                         bool
	// LogFormat is that of a line.
	LogFormat string
	Log       AuditPassing
	// WebhookConfigFile says where the server is that events are sent to; empty means
	// none. WebhookInitialBackoff is how long it takes until what failed is tried again.
	WebhookConfigFile     string
	WebhookInitialBackoff time.Duration
	Webhook               AuditPassing
}

// AuditPassing is how events go to a file or a server.
type AuditPassing struct {
	// Mode is one of AuditModes.
	Mode string
	// BufferSize is how many events wait, at most, and MaxSize how many are passed on at
	// once, after MaxWait since the first of them or when there are so many.
	BufferSize, MaxSize int
	MaxWait             time.Duration
	// Throttle bounds how many batches there are: QPS a second, and Burst at once.
	Throttle bool
	QPS      float32
	Burst    int
	// Truncate leaves the bodies out of events with more bytes than MaxEventBytes,
	// drops those that still have, and divides batches with more than MaxBatchBytes.
	Truncate                     bool
	MaxEventBytes, MaxBatchBytes int64
}

// AuditModes are how requests and their events wait for each other, and AuditFormats
// those of lines.
var (
	AuditModes   = []string{"batch", "blocking", "blocking-strict"}
	AuditFormats = []string{"json", "legacy"}
)

// defaultAudit keeps nothing anywhere.
func defaultAudit() Audit {
	truncated := AuditPassing{Mode: "batch", BufferSize: 10_000, MaxSize: 400, QPS: 10, Burst: 15, MaxEventBytes: 100 << 10, MaxBatchBytes: 10 << 20}
	a := Audit{
		UnknownPerMinute: 4000, LogMaxSize: 100, LogMaxBackup: 10, LogFormat: "json", Log: truncated,
		WebhookInitialBackoff: 10 * time.Second, Webhook: truncated,
	}
	a.Webhook.Throttle, a.Webhook.MaxWait = true, 30*time.Second
	return a
}

// validate tells what is wrong, by flag.
func (a Audit) validate(bad func(flag, format string, args ...any)) {
	for flag, n := range map[string]int{
		"audit-log-maxsize": a.LogMaxSize, "audit-log-maxbackup": a.LogMaxBackup, "audit-log-maxage": a.LogMaxAge,
		"audit-unidentified-per-minute": a.UnknownPerMinute,
	} {
		if n < 0 {
			bad(flag, "must not be negative, got %d", n)
		}
	}
	if !slices.Contains(AuditFormats, a.LogFormat) {
		bad("audit-log-format", "must be one of %s, got %q", strings.Join(AuditFormats, ", "), a.LogFormat)
	}
	if a.WebhookInitialBackoff <= 0 {
		bad("audit-webhook-initial-backoff", "must be greater than 0, got %s", a.WebhookInitialBackoff)
	}
	a.Log.validate("audit-log-", bad)
	a.Webhook.validate("audit-webhook-", bad)
	if a.PolicyFile != "" && a.LogPath == "" && a.WebhookConfigFile == "" {
		bad("audit-policy-file", "needs --audit-log-path or --audit-webhook-config-file: nothing would be kept")
	}
}

func (p AuditPassing) validate(flags string, bad func(flag, format string, args ...any)) {
	if !slices.Contains(AuditModes, p.Mode) {
		bad(flags+"mode", "must be one of %s, got %q", strings.Join(AuditModes, ", "), p.Mode)
	}
	for flag, n := range map[string]int{"batch-buffer-size": p.BufferSize, "batch-max-size": p.MaxSize, "batch-throttle-burst": p.Burst} {
		if n < 1 {
			bad(flags+flag, "must be greater than 0, got %d", n)
		}
	}
	if p.BufferSize > maxAuditBuffer {
		bad(flags+"batch-buffer-size", "must not be greater than %d, got %d", maxAuditBuffer, p.BufferSize)
	}
	if p.MaxWait < 0 {
		bad(flags+"batch-max-wait", "must not be negative, got %s", p.MaxWait)
	}
	if !(p.QPS > 0) {
		bad(flags+"batch-throttle-qps", "must be greater than 0, got %v", p.QPS)
	}
	if p.MaxEventBytes < 1 {
		bad(flags+"truncate-max-event-size", "must be greater than 0, got %d", p.MaxEventBytes)
	}
	if p.MaxBatchBytes < p.MaxEventBytes {
		bad(flags+"truncate-max-batch-size", "must not be less than --%struncate-max-event-size, got %d", flags, p.MaxBatchBytes)
	}
}

// maxAuditBuffer is the largest buffer of events, whose places take memory at once.
const maxAuditBuffer = 10_000_000
