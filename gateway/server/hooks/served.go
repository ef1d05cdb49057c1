package hooks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/rules"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/compile"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/calls"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/host"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/plugins"
)

// lookEvery is how often it is looked whether files changed.
const lookEvery = 500 * time.Millisecond

// modules are those of this process.
type modules struct {
	*host.Host
	calls *calls.Calls
}

// Count implements compile.Modules.
func (m modules) Count(name string, hook plugins.Hook, took time.Duration, err error) {
	m.calls.Count(name, hook, took, err)
}

// served is what is served under each name. It is safe for concurrent use; load is
// called by one goroutine.
type served struct {
	paths   []string
	modules modules
	make    compile.Converters
	metrics *metrics.Webhooks
	log     zerolog.Logger

	names map[string]bool // the names of what serves; of load alone

	mu         sync.RWMutex
	rules      map[string]*rules.Rules     // guarded by mu
	converters map[string]*conversion.Bulk // guarded by mu
}

func newServed(paths []string, m modules, w *metrics.Webhooks, all *metrics.Metrics, log zerolog.Logger) *served {
	s := &served{paths: paths, modules: m, metrics: w, log: log.With().Str("component", "webhook").Logger(), names: map[string]bool{}, rules: map[string]*rules.Rules{}, converters: map[string]*conversion.Bulk{}}
	s.make = compile.Converters{Modules: m, Rules: s, Metrics: all, Log: log}
	return s
}

// Converter implements compile.Rules.
func (s *served) Converter(name string) *conversion.Bulk {
	return conversion.Batched(s.rules[name].Converter(name), conversion.Batch{})
}

// converter is what converts under a name; nil for nothing.
func (s *served) converter(name string) *conversion.Bulk {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.converters[name]
}

// has reports whether the module of a name has a hook.
func (s *served) has(name string, hook plugins.Hook) bool {
	status, _ := s.modules.Status(name)
	return slices.Contains(status.Hooks, hook)
}

// load brings into force what the files say. While one cannot be read, all stays as it
// was; so does a module that is refused.
func (s *served) load(ctx context.Context) error {
	c, err := read(s.paths)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.modules)) {
		if err := s.modules.Set(ctx, name, c.modules[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.from[name], err))
			if !s.names[name] { // nothing to serve instead
				s.modules.Remove(name)
			}
			continue
		}
		s.names[name] = true
		s.use(name, nil)
	}
	for name, r := range c.rules {
		s.names[name] = true
		s.use(name, r)
		if err := c.doubts[name]; err != nil {
			s.log.Warn().Err(err).Str("file", c.from[name]).Str("name", name).Msg("rules convert that would be refused if they were written now")
		}
	}
	for name := range s.names {
		if !c.has(name) {
			s.drop(name)
		}
	}
	return errors.Join(errs...)
}

// use lets what a name stands for convert: rules, or with nil the module, if that does.
func (s *served) use(name string, r *rules.Rules) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r != nil:
		s.rules[name] = r
		s.converters[name] = s.make.OfRules(name)
		s.modules.Remove(name)
	case s.has(name, plugins.Convert):
		delete(s.rules, name)
		s.converters[name] = s.make.OfModule(name)
	default:
		delete(s.rules, name)
		delete(s.converters, name)
	}
}

func (s *served) drop(name string) {
	s.mu.Lock()
	delete(s.rules, name)
	delete(s.converters, name)
	s.mu.Unlock()
	delete(s.names, name)
	s.modules.Remove(name)
	s.metrics.Forget(name)
}

// hooks are the paths of all webhooks.
func (s *served) hooks() (paths []string) {
	for name := range s.names {
		if s.converter(name) != nil {
			paths = append(paths, convertPath+name)
		}
		if s.has(name, plugins.Admit) {
			paths = append(paths, admitPath+name)
		}
	}
	slices.Sort(paths)
	return paths
}

// follow brings into force what files say later, until ctx ends. They are read once they
// look the same twice in a row, as they may not be whole before.
func (s *served) follow(ctx context.Context, loaded string) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	last := loaded
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := sight(s.paths)
		settled := now == last
		last = now
		if !settled || now == loaded {
			continue
		}
		loaded = now
		err := s.load(ctx)
		s.metrics.Reload(err)
		if err != nil {
			s.log.Error().Err(err).Msg("files have changed and cannot be used: what they said before is served still")
			continue
		}
		s.log.Info().Strs("webhooks", s.hooks()).Msg("files have changed and count as they are now")
	}
}
