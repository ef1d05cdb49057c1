package calls_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/review"
	modulecalls "github.com/wasmgate/wasmgate/gateway/kinds/module/calls"
	"github.com/wasmgate/wasmgate/plugins"
)

func failed(kind plugins.ErrorKind) error {
	return fmt.Errorf("convert: %w", &plugins.CallError{Module: "m", Hook: plugins.Convert, Kind: kind, Reason: "it did"})
}

// refused is a conversion that the module says it cannot do.
var refused = &conversion.Error{Reason: "m cannot", Cause: &review.Failure{Message: "cannot"}}

// One call that is a fault of the module is enough; of its own refusals half.
func TestWhatFailing(t *testing.T) {
	for name, c := range map[string]struct {
		calls   []error
		failing bool
		counts  string
		last    string
	}{
		"nothing":                 {nil, false, "0 of 0", ""},
		"answers":                 {[]error{nil, nil}, false, "0 of 2", ""},
		"a trap":                  {[]error{nil, nil, nil, failed(plugins.Trap)}, true, "1 of 4", "Trap: it did"},
		"a deadline":              {[]error{failed(plugins.Deadline)}, true, "1 of 1", "DeadlineExceeded: it did"},
		"a bad reply":             {[]error{nil, &conversion.Error{Reason: "returned 1 objects"}}, true, "1 of 2", "returned 1 objects"},
		"some other error":        {[]error{errors.New("the reply is odd")}, true, "1 of 1", "the reply is odd"},
		"most are answered":       {[]error{nil, nil, refused}, false, "1 of 3", "m cannot"},
		"half are refused":        {[]error{nil, refused}, true, "1 of 2", "m cannot"},
		"nobody waited":           {[]error{&plugins.CallError{Kind: plugins.Deadline, Cause: context.Canceled}}, false, "0 of 0", ""},
		"it is not there":         {[]error{failed(plugins.NotReady), failed(plugins.Refused)}, false, "0 of 0", ""},
		"others take the memory":  {[]error{failed(plugins.NoRoom)}, false, "0 of 0", ""},
		"the last one is told":    {[]error{failed(plugins.Trap), failed(plugins.OutOfMemory)}, true, "2 of 2", "MemoryExceeded: it did"},
		"a long reason is cut":    {[]error{errors.New(strings.Repeat("\u00fc", 1000))}, true, "1 of 1", strings.Repeat("\u00fc", 256) + "..."},
		"answers of another hook": {[]error{refused}, true, "1 of 3", "m cannot"},
	} {
		t.Run(name, func(t *testing.T) {
			calls := modulecalls.New()
			calls.Begin("m", "r1")
			for _, err := range c.calls {
				calls.Count("m", plugins.Convert, 0, err)
			}
			if name == "answers of another hook" {
				calls.Count("m", plugins.Admit, 0, nil)
				calls.Count("m", plugins.Admit, 0, nil)
			}
			s := calls.Look("m")
			if counts := fmt.Sprintf("%d of %d", s.Failed, s.Calls); s.Failing != c.failing || counts != c.counts || s.Last.Reason != c.last {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A module is well when it answered for a while; another revision begins anew.
func TestItIsWellAgainAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := modulecalls.New()
		check := func(failing bool, counts string) {
			t.Helper()
			if s := calls.Look("m"); s.Failing != failing || fmt.Sprintf("%d of %d", s.Failed, s.Calls) != counts {
				t.Errorf("%+v, want %v and %s", s, failing, counts)
			}
		}
		count := func(err error) { calls.Count("m", plugins.Convert, 0, err) }
		count(failed(plugins.Trap)) // of the revision before
		check(false, "0 of 0")
		calls.Begin("m", "r1")
		check(false, "0 of 0")
		count(nil)
		check(false, "0 of 1")
		count(failed(plugins.Trap))
		check(true, "1 of 1") // since then
		count(nil)
		<-time.After(30 * time.Second)
		check(true, "1 of 2")
		<-time.After(time.Hour)
		check(true, "1 of 2") // nobody called it
		count(nil)
		check(false, "0 of 1")
		count(failed(plugins.Trap))
		calls.Begin("m", "r1") // it goes on
		check(true, "1 of 1")
		<-time.After(time.Minute)
		calls.Begin("m", "r2")
		<-time.After(time.Second)
		calls.Count("m", plugins.Convert, 2*time.Second, failed(plugins.Trap)) // by the revision before
		if s := calls.Look("m"); s.Failing || s.Calls != 0 || s.Last.Reason != "" {
			t.Errorf("another revision: %+v", s)
		}
		if got := calls.Modules(); !slices.Equal(got, []string{"m"}) {
			t.Errorf("modules %q", got)
		}
		calls.Forget("m")
		if got := calls.Modules(); len(got) != 0 {
			t.Errorf("modules %q", got)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	calls := modulecalls.New()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			calls.Count("m", plugins.Convert, 0, nil)
		}
	})
}
