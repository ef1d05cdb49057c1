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

// What a reply says against a request is told, by an admission's answer or a conversion's.
func TestWhatAReplyRefuses(t *testing.T) {
	for reply, want := range map[string]string{
		``: "",
		`{"response":{"allowed":true,"status":{"message":"m"}}}`:             "",
		`{"response":{"allowed":false,"status":{"message":"m"}}}`:            "m",
		`{"response":{"allowed":false}}`:                                     "no reason is given",
		`{"response":{"result":{"status":"Success","message":"m"}}}`:         "",
		`{"response":{"result":{"message":"m"}}}`:                            "",
		`{"response":{"result":{"status":"Failure","message":"m"}}}`:         "m",
		`{"response":{"result":{"status":"Failure"}}}`:                       "no reason is given",
		`{"response":{"allowed":false,"result":{"status":"Success"}}}`:       "no reason is given",
		`{"response":{"status":{"status":"Failure","message":"not asked"}}}`: "",
	} {
		if got := refused([]byte(reply)); got != want {
			t.Errorf("%s: %q, want %q", reply, got, want)
		}
	}
}

// What a module looks up is there by the name that a request has for it.
func TestObjectsToLookUp(t *testing.T) {
	const policy = `{"apiVersion":"example.com/v1","kind":"Policy","metadata":{"name":"p","namespace":"n"}}`
	find, grants, err := shelf([][]byte{[]byte(policy), []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}`)})
	if err != nil || len(grants) != 2 || grants[0].Group != "example.com" || grants[0].Resource != "policies" || grants[0].Namespace != "n" || grants[1].Resource != "namespaces" {
		t.Fatalf("%+v, %v", grants, err)
	}
	if got, err := find(t.Context(), plugins.Object{Group: "example.com", Resource: "policies", Namespace: "n", Name: "p"}); err != nil || string(got) != policy {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := find(t.Context(), plugins.Object{Resource: "policies", Namespace: "n", Name: "p"}); !errors.Is(err, plugins.ErrNoObject) {
		t.Errorf("of another group: %s, %v", got, err)
	}
	for _, text := range []string{`{`, `{"apiVersion":"a/b/c","kind":"A","metadata":{"name":"a"}}`, `{"apiVersion":"v1","metadata":{"name":"a"}}`, `{"apiVersion":"v1","kind":"A"}`} {
		if _, _, err := shelf([][]byte{[]byte(text)}); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// A log is kept as far as its bound.
func TestLogsHaveABound(t *testing.T) {
	var s seen
	for i := range maxLog + 1 {
		s.logged("m", fmt.Sprint(i))
	}
	if _, _, log := s.since(); len(log) != maxLog || log[maxLog-1] != fmt.Sprint(maxLog-1) {
		t.Errorf("%d lines", len(log))
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
