// Package calls owns how the calls of the modules of this process went:
// which modules fail, how often, and what they said last.
//
// It must not know who calls modules, nor who is told.
package calls

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/plugins"
)

const (
	// calm is how long a module that failed has to answer until it is well.
	calm = time.Minute
	// maxReason bounds what is kept of a failure, in bytes.
	maxReason = 512
)

// State is how the calls of one module went.
type State struct {
	// Revision is what they were calls of, as [Calls.Begin] was told.
	Revision string
	// Failing tells that calls fail: some in a way that is a fault of the module,
	// or half of them at least with its own answer.
	Failing bool
	// Calls and Failed count since the module is failing, or since it is not.
	Calls, Failed int64
	Since         time.Time
	// Last is the last failure, the zero value for none.
	Last Failure
}

// Failure is a call that failed.
type Failure struct {
	Hook   string
	Reason string
	At     time.Time
}

// Calls counts the calls of modules. It is safe for concurrent use.
type Calls struct {
	now     func() time.Time
	modules sync.Map // of *counter, by name
}

// New returns a count that has begun.
func New() *Calls { return &Calls{now: time.Now} }

// counter is that of one module.
type counter struct {
	begun atomic.Int64            // when the revision began, in ns since 1970
	hooks map[plugins.Hook]*tally // one for each hook that there is

	mu    sync.Mutex
	last  Failure // guarded by mu
	state State   // guarded by mu: at the last look
}

// tally is what calls of one hook came to since the last look.
type tally struct{ answered, faults, verdicts atomic.Int64 }

func newCounter() *counter {
	c := &counter{hooks: map[plugins.Hook]*tally{}}
	for _, h := range plugins.Hooks() {
		c.hooks[h] = &tally{}
	}
	return c
}

// Count counts one call of a hook, which has ended now. What says nothing about the
// module is not counted: that it is not there, lacks the hook, or that nobody waited
// for its answer; nor is a call that is older than the revision.
func (c *Calls) Count(module string, hook plugins.Hook, took time.Duration, err error) {
	kind, m := judge(err), c.of(module)
	if c.now().Add(-took).UnixNano() < m.begun.Load() {
		return
	}
	t := m.hooks[hook]
	switch kind {
	case nothing:
		return
	case answered:
		t.answered.Add(1)
		return
	case verdict:
		t.verdicts.Add(1)
	case fault:
		t.faults.Add(1)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = Failure{string(hook), reasonOf(err), c.now()}
}

func (c *Calls) of(module string) *counter {
	if m, ok := c.modules.Load(module); ok {
		return m.(*counter)
	}
	m, _ := c.modules.LoadOrStore(module, newCounter())
	return m.(*counter)
}

// Modules are the modules of which calls were counted.
func (c *Calls) Modules() []string {
	names := map[string]bool{}
	c.modules.Range(func(name, _ any) bool {
		names[name.(string)] = true
		return true
	})
	return slices.Sorted(maps.Keys(names))
}

// Forget drops what is known of a module.
func (c *Calls) Forget(module string) { c.modules.Delete(module) }

// Begin is told of a revision of a module before its first call. What was counted
// of another one is dropped.
func (c *Calls) Begin(module, revision string) {
	m := c.of(module)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state.Revision != revision {
		m.begun.Store(c.now().UnixNano())
		m.taken()
		m.state, m.last = State{Revision: revision, Since: c.now()}, Failure{}
	}
}

// Look tells how the calls of a module go since the revision began that did last;
// the zero value when none has.
func (c *Calls) Look(module string) State {
	m := c.of(module)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state.Revision == "" {
		return State{}
	}
	calls, failed, bad := m.taken()
	now, s := c.now(), &m.state
	switch {
	case bad && !s.Failing:
		*s = State{Revision: s.Revision, Failing: true, Since: now}
	case s.Failing && failed == 0 && calls > 0 && now.Sub(m.last.At) >= calm:
		*s = State{Revision: s.Revision, Since: now}
	}
	s.Calls += calls
	s.Failed += failed
	s.Last = m.last
	return *s
}

// taken are the calls since the last time, how many of them failed, and whether
// that is bad.
func (m *counter) taken() (calls, failed int64, bad bool) {
	for _, t := range m.hooks {
		answered, faults, verdicts := t.answered.Swap(0), t.faults.Swap(0), t.verdicts.Swap(0)
		calls += answered + faults + verdicts
		failed += faults + verdicts
		bad = bad || faults > 0 || verdicts > 0 && verdicts >= answered
	}
	return calls, failed, bad
}

// judgement is what a call says about its module.
type judgement int

const (
	nothing judgement = iota
	answered
	verdict // the module's own answer is that it failed
	fault
)

func judge(err error) judgement {
	if err == nil {
		return answered
	}
	if errors.Is(err, context.Canceled) {
		return nothing
	}
	var call *plugins.CallError
	if errors.As(err, &call) && (call.Kind == plugins.NotReady || call.Kind == plugins.Refused || call.Later()) {
		return nothing
	}
	var own interface{ Verdict() bool }
	if errors.As(err, &own) && own.Verdict() {
		return verdict
	}
	return fault
}

// reasonOf is why a call failed, without what a refused reply says.
func reasonOf(err error) string {
	var call *plugins.CallError
	var failed *conversion.Error
	reason := err.Error()
	switch {
	case errors.As(err, &call):
		reason = string(call.Kind) + ": " + call.Reason
	case errors.As(err, &failed):
		reason = failed.LogText()
	}
	return excerpt.Of(reason, maxReason)
}
