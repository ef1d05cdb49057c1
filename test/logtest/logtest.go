// Package logtest owns a log that a test reads while others write to it.
//
// It must not know what is logged. Only tests import it.
package logtest

import (
	"bytes"
	"sync"
)

// Log keeps what is written to it. Its zero value is empty; it is safe for
// concurrent use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
