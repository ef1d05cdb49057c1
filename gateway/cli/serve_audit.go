package cli

import (
	"strings"

	"github.com/wasmgate/wasmgate/gateway/options"
)

func auditFlags(a *options.Audit) flagGroup {
	f := newGroup("Audit")
	f.StringVar(&a.PolicyFile, "audit-policy-file", "", "`file` with a Policy of audit.k8s.io/v1 that says which requests are logged at which level (default all, at the level Metadata)")
	f.IntVar(&a.UnknownPerMinute, "audit-unidentified-per-minute", a.UnknownPerMinute, "how `many` events are logged in a minute about refused requests that nobody is identified for, a quarter of them for one client address; one event says how many were left out; 0 means all are logged")
	f.StringVar(&a.LogPath, "audit-log-path", "", "`file` for the audit log, one line for each answered request; - is the standard output")
	f.IntVar(&a.LogMaxSize, "audit-log-maxsize", a.LogMaxSize, "the size in `megabytes` at which the file of the audit log is rotated; 0 means never")
	f.IntVar(&a.LogMaxBackup, "audit-log-maxbackup", a.LogMaxBackup, "how many rotated files of the audit log are kept; 0 means all")
	f.IntVar(&a.LogMaxAge, "audit-log-maxage", a.LogMaxAge, "for how many `days` rotated files of the audit log are kept; 0 means for ever")
	f.BoolVar(&a.LogCompress, "audit-log-compress", false, "compress rotated files of the audit log")
	f.StringVar(&a.LogFormat, "audit-log-format", a.LogFormat, "`format` of a line: "+strings.Join(options.AuditFormats, " or "))
	passingFlags(f, "audit-log-", "the audit log", &a.Log)
	f.StringVar(&a.WebhookConfigFile, "audit-webhook-config-file", "", "kubeconfig `file` of the server that audit events are sent to (the audit webhook)")
	f.DurationVar(&a.WebhookInitialBackoff, "audit-webhook-initial-backoff", a.WebhookInitialBackoff, "how long to wait before the first retry when events could not be sent")
	passingFlags(f, "audit-webhook-", "the audit webhook", &a.Webhook)
	return f
}

// passingFlags are those of how events go somewhere.
func passingFlags(f flagGroup, name, to string, p *options.AuditPassing) {
	f.StringVar(&p.Mode, name+"mode", p.Mode, "the `mode`: whether requests wait until their events have reached "+to+": "+strings.Join(options.AuditModes, ", ")+"; the last one refuses a request whose event cannot be logged")
	f.IntVar(&p.BufferSize, name+"batch-buffer-size", p.BufferSize, "how `many` events may wait for "+to+", in batch mode; events beyond that are lost")
	f.IntVar(&p.MaxSize, name+"batch-max-size", p.MaxSize, "how `many` events go to "+to+" in one batch, in batch mode")
	f.DurationVar(&p.MaxWait, name+"batch-max-wait", p.MaxWait, "how long events wait for a batch to fill, in batch mode")
	f.BoolVar(&p.Throttle, name+"batch-throttle-enable", p.Throttle, "limit how many batches go to "+to+" in a second, in batch mode")
	f.Float32Var(&p.QPS, name+"batch-throttle-qps", p.QPS, "how many batches go to "+to+" in a second, with --"+name+"batch-throttle-enable")
	f.IntVar(&p.Burst, name+"batch-throttle-burst", p.Burst, "how many batches may go to "+to+" at once after a pause, with --"+name+"batch-throttle-enable")
	f.BoolVar(&p.Truncate, name+"truncate-enabled", p.Truncate, "leave request and response bodies out of events that are too large for "+to)
	f.Int64Var(&p.MaxEventBytes, name+"truncate-max-event-size", p.MaxEventBytes, "the largest size of an event in `bytes`, with --"+name+"truncate-enabled; an event that is larger even without its bodies is lost")
	f.Int64Var(&p.MaxBatchBytes, name+"truncate-max-batch-size", p.MaxBatchBytes, "the largest size of a batch for "+to+" in `bytes`, with --"+name+"truncate-enabled")
}
