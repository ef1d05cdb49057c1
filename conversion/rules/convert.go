package rules

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/sdk"
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

var _ conversion.Reader = (*Rules)(nil)

// ReadsReplies implements [conversion.Reader].
func (*Rules) ReadsReplies() {}

// Told is how messages speak of the rules of a name.
func Told(name string) conversion.Told {
	return conversion.Told{Converter: fmt.Sprintf("conversion rules %q", name)}
}

// Converter makes of rules a converter whose replies are checked, and which is not
// sent managedFields; name is what messages call it.
func (r *Rules) Converter(name string) conversion.Converter { return conversion.Lean(r, Told(name)) }

// Epoch implements [conversion.Converter]: compiled rules never change.
func (r *Rules) Epoch() uint64 { return 0 }

// Convert implements [conversion.Converter]. Its errors name the object and the rule.
func (r *Rules) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	out := make([][]byte, len(objects))
	for i, data := range objects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o, err := sdk.Parse(data)
		if err != nil {
			return nil, err
		}
		if err := r.convert(ctx, o, desired); err != nil {
			name := o.Name()
			if ns := o.Namespace(); ns != "" {
				name = ns + "/" + name
			}
			return nil, fmt.Errorf("%s %s: %w", o.Kind(), name, err)
		}
		out[i] = o.JSON()
	}
	return out, nil
}

// refusal is what a rule says of an object: the rules work, and convert others.
type refusal struct{ error }

// Unwrap returns what the rule said.
func (r refusal) Unwrap() error { return r.error }

// Verdict tells that the object is what does not convert ([conversion.Error.OfObjects]).
func (refusal) Verdict() bool { return true }

func (r *Rules) convert(ctx context.Context, o *sdk.Object, desired string) error {
	group, from := cutVersion(o.APIVersion())
	wantedGroup, to := cutVersion(desired)
	if group != wantedGroup {
		return errors.New("rules do not convert between groups")
	}
	if from == to {
		return nil
	}
	way := r.ways[pair{from, to}]
	if way == nil {
		return fmt.Errorf("no rules lead from %s to %s", from, to)
	}
	one := &run{ctx: ctx, o: o}
	for _, e := range way {
		if err := e.apply(one); err != nil {
			if ctx.Err() != nil { // the object may have nothing to do with it
				return err
			}
			return refusal{err}
		}
	}
	return o.At("apiVersion").SetRaw(rawjson.AppendString(nil, desired))
}

// apply takes an edge: backwards, the last rule is the first.
func (e edge) apply(r *run) error {
	for i := range e.ops {
		o, what := e.ops[i], e.ops[i].there
		if e.back {
			o = e.ops[len(e.ops)-1-i]
			what = o.back
		}
		if err := o.scope.each(r, func(item []string) error { return what(r, item) }); err != nil {
			return fmt.Errorf("%s: %w", o.at, err)
		}
	}
	return nil
}

func cutVersion(apiVersion string) (group, version string) {
	if group, version, ok := strings.Cut(apiVersion, "/"); ok {
		return group, version
	}
	return "", apiVersion
}
