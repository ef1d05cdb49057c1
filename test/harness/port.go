package harness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// Port returns a port of the loopback interface for a server that a test starts as a
// process. It is below those that systems give to whoever asks for any, and no other
// test, of this process or another, gets it before this one ends: the server may be
// started on it again and again.
func Port(t testing.TB) string {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// The range of [Port]: Linux gives away ports from 32768.
const firstPort, lastPort = 12000, 31999

// held keeps the locks on ports until the process ends.
var held struct {
	sync.Mutex
	files map[int]*os.File
}

func freePort() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("wasmgate-test-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	held.Lock()
	defer held.Unlock()
	if held.files == nil {
		held.files = map[int]*os.File{}
	}
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if held.files[port] != nil {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(port)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return "", err
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil || taken(port) {
			_ = lock.Close()
			continue
		}
		held.files[port] = lock
		return fmt.Sprint(port), nil
	}
	return "", fmt.Errorf("no free port from %d to %d", firstPort, lastPort)
}

func taken(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
	if err != nil {
		return true
	}
	return l.Close() != nil
}
