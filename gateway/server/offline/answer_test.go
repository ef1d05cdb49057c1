package offline

import (
	"errors"
	"fmt"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
)

func TestTheStackOfAFailedCall(t *testing.T) {
	for want, err := range map[string]error{
		"":                     errors.New("wasm stack trace:\n\t.a()"),
		"\x00":                 &plugins.CallError{Kind: plugins.BadReply, Reason: "the reply is empty"},
		"\x00\x00":             &plugins.CallError{Cause: errors.New("module closed with exit_code(2)")},
		".$1(i32)\n.convert()": &plugins.CallError{Kind: plugins.Trap, Cause: errors.New("wasm error: unreachable\nwasm stack trace:\n\t.$1(i32)\n\t.convert()")},
	} {
		for len(want) > 0 && want[0] == 0 { // several are without
			want = want[1:]
		}
		if got := stackOf(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// What a busy machine may cause is tried again, and nothing else.
func TestFailuresOfABusyMachine(t *testing.T) {
	for kind, want := range map[plugins.ErrorKind]bool{
		plugins.Deadline: true, plugins.NotReady: true, plugins.NoRoom: true,
		plugins.Trap: false, plugins.OutOfMemory: false, plugins.OutOfFuel: false, plugins.OutOfStack: false, plugins.BadReply: false,
	} {
		if got := temporary(fmt.Errorf("a call: %w", &plugins.CallError{Kind: kind})); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
	if temporary(errors.New("no call")) {
		t.Error("what is no failure of a call is tried again")
	}
}
