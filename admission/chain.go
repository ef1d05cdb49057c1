package admission

import (
	"context"
	"fmt"

	"github.com/wasmgate/wasmgate/admission/order"
)

// Plugin is an admission plugin: by its place in the order a [Mutator], an
// [Editor] or a [Reinvoked], a [Validator], or what the store of objects charges.
type Plugin interface {
	// Name is what the plugin is called, one of the names in [order.Plugins].
	Name() string
}

// Chain is what is asked about every request, in order.
type Chain struct {
	Mutators   []Mutator
	Validators []Validator
	// Charging are asked when a write is committed. What they are asked is up to who
	// stores objects.
	Charging []Plugin
}

// NewChain brings those of the plugins into order that are on. The error is about
// plugins that the order has not, or has at stages that they are not made for.
func NewChain(on func(name string) bool, all ...Plugin) (c Chain, err error) {
	byName := map[string]Plugin{}
	for _, p := range all {
		if d := order.DefaultOf(p.Name()); d > order.Absent && on(p.Name()) {
			byName[p.Name()] = p
		} else if d <= order.Absent {
			return c, fmt.Errorf("the admission plugin %s has no place in the order", p.Name())
		}
	}
	for _, at := range order.Plugins {
		p := byName[at.Name]
		if p == nil {
			continue
		}
		if at.Has(order.Mutates) && !c.addMutator(p) {
			return c, fmt.Errorf("the admission plugin %s does not mutate", at.Name)
		}
		if at.Has(order.Validates) {
			v, ok := p.(Validator)
			if !ok {
				return c, fmt.Errorf("the admission plugin %s does not validate", at.Name)
			}
			c.Validators = append(c.Validators, v)
		}
		if at.Has(order.Charges) {
			c.Charging = append(c.Charging, p)
		}
	}
	return c, nil
}

// addMutator makes one of those of a sort that follow each other.
func (c *Chain) addMutator(p Plugin) bool {
	switch p := p.(type) {
	case Reinvoked:
		c.Mutators = joined[reinvoked](c.Mutators, p)
	case Editor:
		c.Mutators = joined[editors](c.Mutators, p)
	case Mutator:
		c.Mutators = append(c.Mutators, p)
	default:
		return false
	}
	return true
}

func joined[G interface {
	~[]P
	Mutator
}, P any](all []Mutator, p P) []Mutator {
	if n := len(all) - 1; n >= 0 {
		if before, ok := all[n].(G); ok {
			all[n] = append(before, p)
			return all
		}
	}
	return append(all, G{p})
}

// Reinvoked is a [Plugin] of the mutating phase that asks what others configure,
// policies or webhooks, and asks once more when something changed.
type Reinvoked interface {
	// Begin returns what makes the stage of a request; nil where nobody is to be asked.
	Begin(ctx context.Context, a Attributes) func(*Reinvocation) Stage
}

// reinvoked are stages that follow each other.
type reinvoked []Reinvoked

// Mutate implements [Mutator].
func (all reinvoked) Mutate(ctx context.Context, a Attributes) error {
	var begin []func(*Reinvocation) Stage
	for _, p := range all {
		if b := p.Begin(ctx, a); b != nil {
			begin = append(begin, b)
		}
	}
	if begin == nil {
		return nil
	}
	r := NewReinvocation(a)
	stages := make([]Stage, len(begin))
	for i, b := range begin {
		stages[i] = b(r)
	}
	return Mutate(ctx, r, stages...)
}
