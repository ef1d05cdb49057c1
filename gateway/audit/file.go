package audit

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"

	"gopkg.in/natefinch/lumberjack.v2"
)

// The formats of lines.
const (
	FormatJSON   = "json"
	FormatLegacy = "legacy"
)

// File is a sink that is a file, or the standard output.
type File struct {
	// Path is the file that events are added to; "-" is the standard output.
	Path string
	// MaxMegabytes is how large the file gets before it is put aside and another
	// begun, 0 for as large as it gets; Backups is how many of these are kept and Days
	// how long, 0 is all of them, and for ever. Compress compresses them. None of it is
	// for the standard output.
	MaxMegabytes, Backups, Days int
	Compress                    bool
	// Format is that of a line.
	Format string
	Passing
}

func (f *File) open() (sink, error) {
	out, err := f.writer()
	if err != nil {
		return nil, err
	}
	return &file{out: out, legacy: f.Format == FormatLegacy}, nil
}

// stdout is not closed.
type stdout struct{ io.Writer }

func (stdout) Close() error { return nil }

func (f *File) writer() (io.WriteCloser, error) {
	if f.Path == "-" {
		return stdout{os.Stdout}, nil
	}
	opened, err := os.OpenFile(f.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // that it can be is better known now
	if err != nil || f.MaxMegabytes == 0 {
		return opened, err
	}
	if err := opened.Close(); err != nil {
		return nil, err
	}
	return &lumberjack.Logger{Filename: f.Path, MaxSize: f.MaxMegabytes, MaxBackups: f.Backups, MaxAge: f.Days, Compress: f.Compress}, nil
}

// file is an open file.
type file struct {
	legacy bool

	mu  sync.Mutex
	out io.WriteCloser
	buf bytes.Buffer
	// torn: the file ends within a line.
	torn bool
}

func (*file) name() string { return "log" }

func (*file) parallel() int { return 1 }

func (f *file) encode(e *event) ([]byte, error) {
	if f.legacy {
		return e.legacy()
	}
	return e.json()
}

// most is how much is written at once, in bytes, but for a line that is longer.
const most = 64 << 10

// send implements sink. A line that was written in part is ended before the next.
func (f *file) send(_ context.Context, events [][]byte) (sent int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for sent < len(events) {
		f.buf.Reset()
		ends := 0 // of lines that are no event of these
		if f.torn {
			f.buf.WriteByte('\n')
			ends = 1
		}
		n := sent
		for n < len(events) && (n == sent || f.buf.Len()+len(events[n]) < most) {
			f.buf.Write(events[n])
			f.buf.WriteByte('\n')
			n++
		}
		written, err := f.out.Write(f.buf.Bytes())
		if err != nil {
			if text := f.buf.Bytes()[:written]; written > 0 {
				sent += bytes.Count(text, []byte{'\n'}) - ends
				f.torn = text[written-1] != '\n'
			}
			return min(sent, len(events)), err
		}
		sent, f.torn = n, false
	}
	if f.buf.Cap() > 1<<20 {
		f.buf = bytes.Buffer{}
	}
	return sent, nil
}

func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Close()
}
