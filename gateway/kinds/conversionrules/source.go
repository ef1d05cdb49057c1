// Package conversionrules owns ConversionRules: converters without code, which are
// compiled where they are used, and what is told of them in their status.
//
// It must not know what rules do (conversion/rules), nor how objects are made and
// compared to find out what they lose (conversion/proof).
package conversionrules

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/rules"
	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Source keeps the rules that convert in this process. It follows the cache without a
// goroutine: whoever asks compares what was compiled with what the cache holds, which
// is one pointer. It is safe for concurrent use.
type Source struct {
	log  zerolog.Logger
	kind atomic.Pointer[catalog.Resource] // nil until there is an engine

	current  atomic.Pointer[inForce]
	changing sync.Mutex
	epochs   uint64 // guarded by changing
}

// New makes the source, which has no rules before its kind is served.
func New(log zerolog.Logger) *Source {
	return &Source{log: log.With().Str("component", "conversion-rules").Logger()}
}

// inForce are the rules of one moment. They never change.
type inForce struct {
	from   watchcache.Snapshot[*view.Entry]
	byName map[string]*compiled
}

// compiled is one object.
type compiled struct {
	uid        string
	generation int64
	epoch      uint64
	rules      *rules.Rules
	err        error // why there are no rules
}

// find returns the rules of a name as of now, nil for none.
func (s *Source) find(name string) *compiled {
	kind := s.kind.Load()
	if kind == nil {
		return nil
	}
	now := kind.Bucket().Snapshot()
	if f := s.current.Load(); f != nil && f.from.Same(now) {
		return f.byName[name]
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	was, now := s.current.Load(), kind.Bucket().Snapshot()
	if was != nil && was.from.Same(now) {
		return was.byName[name]
	}
	if was == nil {
		was = &inForce{}
	}
	next := &inForce{from: now, byName: maps.Clone(was.byName)}
	if next.byName == nil {
		next.byName = map[string]*compiled{}
	}
	now.Changed(was.from, func(gone, is *watchcache.Item[*view.Entry]) {
		if is == nil {
			delete(next.byName, gone.Key)
			return
		}
		next.byName[is.Key] = s.compile(kind, is, next.byName[is.Key])
	})
	s.current.Store(next)
	return next.byName[name]
}

// compile compiles an object, unless it is what it was but for its status.
func (s *Source) compile(kind *catalog.Resource, it *watchcache.Item[*view.Entry], was *compiled) *compiled {
	var o struct {
		Metadata struct {
			UID        string `json:"uid"`
			Generation int64  `json:"generation"`
		} `json:"metadata"`
		Spec json.RawMessage `json:"spec"`
	}
	// What was begun has to end, whoever waits: the next conversion needs it too.
	data, err := kind.View(context.Background(), it.Value, kind.Def.StorageVersion)
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err == nil && was != nil && was.err == nil && was.uid == o.Metadata.UID && was.generation == o.Metadata.Generation {
		return was
	}
	s.epochs++
	c := &compiled{uid: o.Metadata.UID, generation: o.Metadata.Generation, epoch: s.epochs}
	if err == nil {
		var doubts error
		if c.rules, doubts, err = compileSpec(o.Spec); err == nil && doubts != nil {
			s.log.Warn().Err(doubts).Str("name", it.Key).Msg("rules convert that would be refused if they were written now")
		}
	}
	if err != nil {
		c.err = fmt.Errorf("ConversionRules %q: %w", it.Key, err)
		s.log.Error().Err(err).Str("name", it.Key).Msg("rules do not convert: they cannot be compiled")
	}
	return c
}

// compileSpec compiles the JSON of a spec, and tells what would be refused in it now.
func compileSpec(spec []byte) (r *rules.Rules, doubts, err error) {
	read, err := rules.Decode(spec)
	if err != nil {
		return nil, nil, err
	}
	r, doubted, errs := rules.CompileStored(read)
	return r, excerpt.Errors(doubted), excerpt.Errors(errs)
}

// Converter converts by the rules that have that name at the time of each call.
func (s *Source) Converter(name string) *conversion.Bulk {
	return conversion.Batched(conversion.Lean(named{s, name}, rules.Told(name)), conversion.Batch{}).
		Named(func() conversion.By { return conversion.By{Rules: name} })
}

// named are the rules of a name.
type named struct {
	source *Source
	name   string
}

// Epoch implements [conversion.Converter]: 0 means that there are no such rules.
func (n named) Epoch() uint64 {
	if c := n.source.find(n.name); c != nil {
		return c.epoch
	}
	return 0
}

// ReadsReplies implements [conversion.Reader].
func (named) ReadsReplies() {}

// Convert implements [conversion.Converter].
func (n named) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	c := n.source.find(n.name)
	switch {
	case c == nil:
		return nil, fmt.Errorf("there are no ConversionRules %q", n.name)
	case c.err != nil:
		return nil, c.err
	}
	return c.rules.Convert(ctx, desired, objects)
}
