package etcd

import (
	"maps"

	"github.com/rs/zerolog"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// zapLogger gives etcd's code a logger that passes errors on to log, warnings
// at debug level, and drops the rest, of which there is a lot.
func zapLogger(log zerolog.Logger) *zap.Logger {
	return zap.New(&logBridge{log: log.With().Str("component", "etcd").Logger()})
}

// storageVersionNoise is an error that a new server logs, once, when it looks
// for its storage version before the first entry of its log is applied.
const storageVersionNoise = "failed to update storage version"

// logBridge is a zapcore.Core over a zerolog.Logger.
type logBridge struct {
	log    zerolog.Logger
	fields map[string]any
}

func (b *logBridge) Enabled(level zapcore.Level) bool { return level >= zapcore.WarnLevel }

func (b *logBridge) With(fields []zapcore.Field) zapcore.Core {
	return &logBridge{log: b.log, fields: b.merge(fields)}
}

func (b *logBridge) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if b.Enabled(e.Level) {
		return ce.AddCore(e, b)
	}
	return ce
}

func (b *logBridge) Write(e zapcore.Entry, fields []zapcore.Field) error {
	level := zerolog.ErrorLevel
	if e.Level == zapcore.WarnLevel || e.Message == storageVersionNoise {
		level = zerolog.DebugLevel
	}
	b.log.WithLevel(level).Fields(b.merge(fields)).Msg(e.Message)
	return nil
}

func (b *logBridge) Sync() error { return nil }

func (b *logBridge) merge(fields []zapcore.Field) map[string]any {
	enc := zapcore.NewMapObjectEncoder()
	maps.Copy(enc.Fields, b.fields)
	for _, f := range fields {
		f.AddTo(enc)
	}
	return enc.Fields
}
