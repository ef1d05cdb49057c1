package harness

import (
	"net"
	"strconv"
	"testing"
)

// Ports are free, in their range, and given to one test only.
func TestPort(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		port := Port(t)
		if n, err := strconv.Atoi(port); err != nil || n < firstPort || n > lastPort || seen[port] {
			t.Fatalf("port %s, %v; before it came %v", port, err, seen)
		}
		seen[port] = true
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Error(err)
			continue
		}
		_ = l.Close()
	}
}
