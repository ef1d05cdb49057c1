package health

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// blockedAfter is how long one write to the log may take.
const blockedAfter = 10 * time.Second

// LogWriter passes the log on to a writer and notices when that writer blocks
// (a full pipe that nobody reads), which sooner or later stops everything.
type LogWriter struct {
	w   io.Writer
	now func() time.Time

	mu sync.Mutex
	// since is when the write in progress began, in Unix nanoseconds; 0 when
	// there is none. It is read without the lock, which a blocked write holds.
	since atomic.Int64
}

// NewLogWriter wraps w.
func NewLogWriter(w io.Writer) *LogWriter {
	return &LogWriter{w: w, now: time.Now}
}

// Write implements io.Writer; writes do not mix.
func (l *LogWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since.Store(l.now().UnixNano())
	defer l.since.Store(0)
	return l.w.Write(p)
}

// Check is the check "log".
func (l *LogWriter) Check(context.Context) error {
	since := l.since.Load()
	if since == 0 {
		return nil
	}
	if d := l.now().Sub(time.Unix(0, since)); d > blockedAfter {
		return fmt.Errorf("logging blocked for %s", d.Round(time.Second))
	}
	return nil
}
