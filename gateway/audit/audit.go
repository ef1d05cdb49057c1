// Package audit owns the log of who asked for what: which form its lines have,
// and that it takes neither memory without bound nor the time of requests.
//
// A line is an Event of audit.k8s.io/v1 at the level Metadata: one for each
// request that was answered, one for each watch that began, and one for what was
// refused before it became a request. It must not know how requests are answered,
// nor what the log is used for.
package audit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/wasmgate/wasmgate/gateway/api"
)

// queued is how many events wait to be written. More are lost, and counted.
const queued = 10_000

// Config is what a [Log] needs.
type Config struct {
	// Path is the file that events are added to; "-" is the standard output.
	Path string
	// MaxMegabytes is how large the file gets before it is put aside and another
	// begun, and Backups how many of these are kept; 0 is all of them. Neither is
	// for the standard output.
	MaxMegabytes, Backups int
	// Counted is told of each event, whether it was written.
	Counted func(written bool)
	// Log is told of what cannot be written.
	Log zerolog.Logger
}

// Log is an [api.Auditor] that writes lines to a file.
type Log struct {
	c      Config
	events chan *api.Audit
	done   chan struct{}
	out    io.WriteCloser

	mu     sync.RWMutex
	closed bool
}

// Open begins to write. The error is about the file.
func Open(c Config) (*Log, error) {
	out, err := open(c)
	if err != nil {
		return nil, err
	}
	l := &Log{c: c, events: make(chan *api.Audit, queued), done: make(chan struct{}), out: out}
	go l.write()
	return l, nil
}

// stdout is not closed.
type stdout struct{ io.Writer }

func (stdout) Close() error { return nil }

func open(c Config) (io.WriteCloser, error) {
	if c.Path == "-" {
		return stdout{os.Stdout}, nil
	}
	f, err := os.OpenFile(c.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // that it can be is better known now
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return &lumberjack.Logger{Filename: c.Path, MaxSize: c.MaxMegabytes, MaxBackups: c.Backups}, nil
}

// Audit implements [api.Auditor].
func (l *Log) Audit(a *api.Audit) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return
	}
	select {
	case l.events <- a:
	default:
		l.c.Counted(false)
	}
}

// Close writes what waits and ends the log; what comes later is lost.
func (l *Log) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.events)
	}
	l.mu.Unlock()
	<-l.done
	return l.out.Close()
}

// write writes events until there will be no more.
func (l *Log) write() {
	defer close(l.done)
	log := l.c.Log.Sample(&zerolog.BurstSampler{Burst: 1, Period: time.Minute})
	buffered := bufio.NewWriterSize(l.out, 64<<10)
	pending := 0 // events that the buffer may hold
	for a := range l.events {
		pending++
		err := l.line(buffered, a)
		if err == nil && len(l.events) > 0 {
			continue
		}
		if err == nil {
			err = buffered.Flush()
		}
		if err != nil {
			buffered.Reset(l.out) // it keeps its error
			log.Error().Err(err).Str("component", "audit").Msg("events are lost")
		}
		for ; pending > 0; pending-- {
			l.c.Counted(err == nil)
		}
	}
}

func (l *Log) line(w io.Writer, a *api.Audit) error {
	data, err := json.Marshal(event(a))
	if err == nil {
		_, err = w.Write(append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}
