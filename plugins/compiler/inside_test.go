package compiler

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
)

// What the process says and how it ends is all that whoever started it learns. Here it
// runs in this one, as if it was enclosed.
func TestHowTheProcessEnds(t *testing.T) {
	good := plugintest.Echo("{}").Bytes()
	sent := func(n int, module []byte) []byte {
		return append(binary.BigEndian.AppendUint64(nil, uint64(n)), module...)
	}
	for name, c := range map[string]struct {
		args string
		in   []byte
		code int
		said string
		left int
	}{
		"a good module":         {"DIR 0 0 enclosed", sent(len(good), good), 0, "", 1},
		"with a limit":          {"DIR 1073741824 60 enclosed", sent(len(good), good), 0, "", 1},
		"no module":             {"DIR 0 0 enclosed", sent(3, []byte("bad")), exitRefused, "invalid magic number", 0},
		"no arguments":          {"", nil, exitFailed, "this command is for the gateway's own use", 0},
		"another argument":      {"DIR 0 0 odd", nil, exitFailed, "this command is for the gateway's own use", 0},
		"too many arguments":    {"DIR 0 0 enclosed enclosed", nil, exitFailed, "this command is for the gateway's own use", 0},
		"memory is no number":   {"DIR many 0 enclosed", nil, exitFailed, `parsing "many"`, 0},
		"seconds are no number": {"DIR 0 many enclosed", nil, exitFailed, `parsing "many"`, 0},
		"more than the most":    {"DIR 0 0 enclosed", sent(most+1, nil), exitFailed, "a module of 536870913 bytes", 0},
	} {
		dir := t.TempDir()
		r, w := io.Pipe() // never closed: its end would be that of this process
		go func() { _, _ = w.Write(c.in) }()
		var out bytes.Buffer
		code := Main(strings.Fields(strings.ReplaceAll(c.args, "DIR", dir)), r, &out)
		if files := left(t, dir); code != c.code || !strings.Contains(out.String(), c.said) || (c.said == "") != (out.Len() == 0) || len(files) != c.left {
			t.Errorf("%s: ended with %d, said %q, left %q", name, code, out.String(), files)
		}
	}
	for name, in := range map[string][]byte{"no length": {0, 0}, "half a module": sent(len(good), good[:10])} {
		var out bytes.Buffer
		if code := Main([]string{t.TempDir(), "0", "0", enclosed}, bytes.NewReader(in), &out); code != exitFailed || !strings.HasPrefix(out.String(), "read the module: ") {
			t.Errorf("%s: ended with %d, said %q", name, code, out.String())
		}
	}
}
