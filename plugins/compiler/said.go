package compiler

import (
	"strings"

	"github.com/wasmgate/wasmgate/excerpt"
)

// head keeps the beginning of what a process writes, which is where it says
// what happened.
type head struct {
	most int
	kept []byte
}

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p[:min(h.most-len(h.kept), len(p))]...)
	return len(p), nil
}

// text is that in one line of valid UTF-8 that fits a message.
func (h *head) text() string {
	return excerpt.Of(strings.Join(strings.Fields(strings.ToValidUTF8(string(h.kept), "\ufffd")), " "), 400)
}

// outOfMemory recognizes how Go's runtime ends when it gets no memory.
func outOfMemory(said string) bool {
	return strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory")
}

// outOfThreads recognizes how Go's runtime ends when the system lets it have no
// thread: a limit of the user or of the container, which is no module's fault.
func outOfThreads(said string) bool {
	return strings.Contains(said, "failed to create new OS thread")
}
