// Package log owns what modules of this process wrote last: their standard
// error, and what they logged.
//
// It must not know modules beyond their names. What it keeps is bounded, and is
// made harmless to terminals when it comes in.
package log

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// The bounds of what is kept.
const (
	// MaxLines and MaxBytes bound what is kept of one module.
	MaxLines = 1000
	MaxBytes = 64 << 10
	// MaxModules is of how many modules anything is kept: of those that wrote
	// last.
	MaxModules = 500
	// MaxLine is the longest line, in bytes.
	MaxLine = 2 << 10
)

// Logs are the logs of all modules. They are safe for concurrent use.
type Logs struct {
	now func() time.Time

	mu      sync.Mutex
	modules map[string]*lines // guarded by mu
}

// lines are those of one module, the oldest first.
type lines struct {
	text  []string
	bytes int
	last  time.Time
}

// New returns empty logs.
func New() *Logs { return &Logs{now: time.Now, modules: map[string]*lines{}} }

// Append adds a line of a module, with the time. Lines are in the order of their
// times.
func (l *Logs) Append(module, line string) {
	line = harmless(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	text := now.UTC().Format("2006-01-02T15:04:05.000Z") + " " + line + "\n"
	m := l.modules[module]
	if m == nil {
		l.makeRoomLocked()
		m = &lines{}
		l.modules[module] = m
	}
	m.text, m.bytes, m.last = append(m.text, text), m.bytes+len(text), now
	drop := 0
	for len(m.text)-drop > MaxLines || m.bytes > MaxBytes {
		m.bytes -= len(m.text[drop])
		drop++
	}
	m.text = append(m.text[:0], m.text[drop:]...)
}

// makeRoomLocked forgets the module that has been silent for longest if there
// are too many.
func (l *Logs) makeRoomLocked() {
	if len(l.modules) < MaxModules {
		return
	}
	oldest := ""
	for name, m := range l.modules {
		if oldest == "" || m.last.Before(l.modules[oldest].last) {
			oldest = name
		}
	}
	delete(l.modules, oldest)
}

// harmless is a line that does nothing to a terminal.
func harmless(line string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(excerpt.Of(line, MaxLine), string(unicode.ReplacementChar)))
}

// Text is what a module wrote last, line by line.
func (l *Logs) Text(module string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.modules[module]
	if m == nil {
		return ""
	}
	return strings.Join(m.text, "")
}

// Forget drops what a module wrote.
func (l *Logs) Forget(module string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.modules, module)
}

// Question is the question for the log of a module. All fields are required.
type Question struct {
	Logs *Logs
	// Exists fails for a module that does not exist.
	Exists func(ctx context.Context, t resource.Target) error
}

// Answer returns the log of the named module.
func (q Question) Answer(ctx context.Context, t resource.Target, _ string, _ []byte, _ resource.WriteOptions) (any, error) {
	if err := q.Exists(ctx, t); err != nil {
		return nil, err
	}
	return q.Logs.Text(t.Name), nil
}
