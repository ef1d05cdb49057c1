package cli

import (
	"strings"

	"github.com/wasmgate/wasmgate/gateway/options"
)

func auditFlags(a *options.Audit) flagGroup {
	f := newGroup("Audit")
	f.StringVar(&a.PolicyFile, "audit-policy-file", "", "`file` with a Policy of audit.k8s.io/v1 that says what is kept of which requests; without it that is the metadata of all")
	f.StringVar(&a.LogPath, "audit-log-path", "", "`file` for a line about every request that was answered; - is the standard output")
	f.IntVar(&a.LogMaxSize, "audit-log-maxsize", a.LogMaxSize, "how many `megabytes` the file of the audit log has before another is begun; 0 means any number")
	f.IntVar(&a.LogMaxBackup, "audit-log-maxbackup", a.LogMaxBackup, "how many such files are kept; 0 means all")
	f.IntVar(&a.LogMaxAge, "audit-log-maxage", a.LogMaxAge, "for how many `days` such files are kept; 0 means for ever")
	f.BoolVar(&a.LogCompress, "audit-log-compress", false, "compress such files")
	f.StringVar(&a.LogFormat, "audit-log-format", a.LogFormat, "`format` of a line: "+strings.Join(options.AuditFormats, " or "))
	passingFlags(f, "audit-log-", "the audit log", &a.Log)
	f.StringVar(&a.WebhookConfigFile, "audit-webhook-config-file", "", "kubeconfig `file` that says which server events are sent to")
	f.DurationVar(&a.WebhookInitialBackoff, "audit-webhook-initial-backoff", a.WebhookInitialBackoff, "how long it takes until events that could not be sent are sent again, the first time")
	passingFlags(f, "audit-webhook-", "that server", &a.Webhook)
	return f
}

// passingFlags are those of how events go somewhere.
func passingFlags(f flagGroup, name, to string, p *options.AuditPassing) {
	f.StringVar(&p.Mode, name+"mode", p.Mode, "the `mode`, which says whether requests wait for "+to+": "+strings.Join(options.AuditModes, ", ")+"; the last refuses what cannot be kept")
	f.IntVar(&p.BufferSize, name+"batch-buffer-size", p.BufferSize, "how `many` events wait for "+to+", in batch mode; more are lost")
	f.IntVar(&p.MaxSize, name+"batch-max-size", p.MaxSize, "how `many` events go to "+to+" at once, in batch mode")
	f.DurationVar(&p.MaxWait, name+"batch-max-wait", p.MaxWait, "how long events wait until there are so many, in batch mode")
	f.BoolVar(&p.Throttle, name+"batch-throttle-enable", p.Throttle, "bound how often events go to "+to+", in batch mode")
	f.Float32Var(&p.QPS, name+"batch-throttle-qps", p.QPS, "how often that is in a second, then")
	f.IntVar(&p.Burst, name+"batch-throttle-burst", p.Burst, "how often that is at once, then")
	f.BoolVar(&p.Truncate, name+"truncate-enabled", p.Truncate, "leave bodies out of events that are too large for "+to)
	f.Int64Var(&p.MaxEventBytes, name+"truncate-max-event-size", p.MaxEventBytes, "how many `bytes` an event has, then; one that has more without its bodies, too, is lost")
	f.Int64Var(&p.MaxBatchBytes, name+"truncate-max-batch-size", p.MaxBatchBytes, "how many `bytes` events have that go to "+to+" at once, then")
}
