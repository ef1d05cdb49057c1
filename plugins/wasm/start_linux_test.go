package wasm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
)

// Where the system gives no memory nothing is said about the module.
func TestAStartWithoutMemoryIsNoFault(t *testing.T) {
	const pages = 3072
	g := Echo("{}")
	g.Pages = pages
	m := load(t, g.Bytes(), plugins.Limits{MemoryBytes: pages * pageBytes})
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	var now uint64
	if _, line, _ := bytes.Cut(text, []byte("VmData:")); line == nil {
		t.Skip("it is not told how much memory there is")
	} else if _, err := fmt.Sscan(string(line), &now); err != nil {
		t.Skip(err)
	}
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &was); err != nil {
		t.Skip(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: now<<10 + pages*pageBytes/2, Max: was.Max}); err != nil {
		t.Skip(err)
	}
	i, err := m.Instantiate(t.Context())
	if back := unix.Setrlimit(unix.RLIMIT_DATA, &was); back != nil {
		t.Fatal(back)
	}
	if err == nil {
		_ = i.Close()
		t.Skip("this system counts no memory")
	}
	var refused *plugins.LoadError
	if !errors.Is(err, errNoInstance) || errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	if i, err = m.Instantiate(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = i.Close()
}
