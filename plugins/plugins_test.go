package plugins

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestLimitsHaveDefaultsAndBounds(t *testing.T) {
	standard := Limits{MemoryBytes: DefaultMemoryBytes, Timeout: DefaultTimeout, ResponseBytes: DefaultResponseBytes}
	for name, c := range map[string]struct{ in, want Limits }{
		"none":     {Limits{}, standard},
		"negative": {Limits{MemoryBytes: -1, Timeout: -1, ResponseBytes: -1, Fuel: -1}, standard},
		"smallest": {Limits{MemoryBytes: 1, Timeout: 1, ResponseBytes: 1, Fuel: 1}, Limits{MemoryBytes: 1, Timeout: 1, ResponseBytes: 1, Fuel: 1}},
		"largest": {
			Limits{MemoryBytes: MaxMemoryBytes + 1, Timeout: MaxTimeout + time.Second, ResponseBytes: MaxResponseBytes + 1, Fuel: 1 << 60},
			Limits{MemoryBytes: MaxMemoryBytes, Timeout: MaxTimeout, ResponseBytes: MaxResponseBytes, Fuel: 1 << 60},
		},
	} {
		if got := c.in.Effective(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// One object has two seconds; what takes longer for good reason has more, but not
// without end.
func TestABatchMayTakeItsTimeoutOften(t *testing.T) {
	for _, c := range []struct {
		objects, bytes int
		want           time.Duration
	}{
		{0, 0, 2 * time.Second}, {1, 2000, 2 * time.Second}, {100, 1 << 20, 2 * time.Second},
		{101, 1000, 4 * time.Second}, {1, 1<<20 + 1, 4 * time.Second}, {500, 1 << 20, 10 * time.Second},
		{5000, 1000, 10 * time.Second}, {1, 64 << 20, 10 * time.Second},
	} {
		if got := (Limits{}).Effective().Allowed(Times(c.objects, c.bytes)); got != c.want {
			t.Errorf("%d objects in %d bytes may take %s, want %s", c.objects, c.bytes, got, c.want)
		}
	}
	if got := (Limits{Timeout: 20 * time.Second}).Allowed(MaxTimes); got != MaxTimeout {
		t.Errorf("a batch may take %s", got)
	}
}

func TestOnlyWhatLiesInTheModuleIsFinal(t *testing.T) {
	for _, r := range []LoadReason{NotWasm, TooLarge, Malformed, MissingExport, WrongSignature, ForeignImport, MemoryLimit, CompileFailed, StartFailed, ConfigRefused, BadDescription} {
		if !r.Final() {
			t.Errorf("%s may be gone when it is asked again", r)
		}
	}
	for _, r := range []LoadReason{HookInUse, Slow, StartLate, Quarantined, SafeMode} {
		if r.Final() {
			t.Errorf("%s never goes away", r)
		}
	}
}

func TestARevisionIsTheSameWhenItBehavesTheSame(t *testing.T) {
	a := Revision{Digest: "d", Bytes: []byte("x"), Config: []byte("{}"), Limits: Limits{Fuel: 1}, Attempt: "1"}
	again := a
	again.Bytes, again.Attempt, again.Consent = nil, "2", func([]Hook) error { return nil }
	if !a.Same(again) {
		t.Error("another attempt is another revision")
	}
	for name, change := range map[string]func(*Revision){
		"digest": func(r *Revision) { r.Digest = "e" },
		"config": func(r *Revision) { r.Config = []byte("[]") },
		"limits": func(r *Revision) { r.Limits.Fuel++ },
	} {
		other := a
		change(&other)
		if a.Same(other) {
			t.Errorf("with another %s it is the same", name)
		}
	}
}

func TestAStatusIsOfWhatServes(t *testing.T) {
	if d := (Status{FailedDigest: "f"}).Digest(); d != "" {
		t.Errorf("nothing serves, and its digest is %q", d)
	}
	s := Status{Serving: &Revision{Digest: "d"}, Hooks: []Hook{Convert}, Description: []byte("{}")}
	c := s.Clone()
	c.Hooks[0], c.Description[0] = Admit, '['
	if s.Digest() != "d" || s.Hooks[0] != Convert || s.Description[0] != '{' {
		t.Errorf("a change of the copy shows in %+v", s)
	}
}

func TestErrorsNameTheModuleAndWrapTheirCause(t *testing.T) {
	cause := errors.New("cause")
	for _, err := range []error{
		&LoadError{Module: "tabs", Reason: Malformed, Detail: "why", Cause: cause},
		&CallError{Module: "tabs", Hook: Convert, Kind: Trap, Reason: "why", Cause: cause},
	} {
		if !errors.Is(err, cause) || !strings.HasPrefix(err.Error(), `wasm module "tabs": `) || !strings.HasSuffix(err.Error(), ": why") {
			t.Errorf("got %v", err)
		}
	}
}
