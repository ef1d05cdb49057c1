package admission

import (
	"context"
	"time"
)

// Observer is told how long admission took. It is safe for concurrent use, and cheap.
type Observer interface {
	// Phase is called when the plugins of a phase were asked, or one refused.
	Phase(mutates bool, o Operation, rejected bool, took time.Duration)
	// Plugin is called when one was asked that may have something to say.
	Plugin(name string, mutates bool, o Operation, rejected bool, took time.Duration)
}

// Observe has an observer told of what the chain is asked. It is called once, before that.
func (c *Chain) Observe(by Observer) {
	mutators, validators := mutating{by: by}, validating{by: by}
	for _, m := range c.Mutators {
		mutators.all = append(mutators.all, timedMutators(by, m))
	}
	for _, v := range c.Validators {
		validators.all = append(validators.all, timedValidator{v, newTimer(by, v)})
	}
	if mutators.all != nil {
		c.Mutators = []Mutator{mutators}
	}
	if validators.all != nil {
		c.Validators = []Validator{validators}
	}
}

// timedMutators has each plugin timed that m stands for.
func timedMutators(by Observer, m Mutator) Mutator {
	switch m := m.(type) {
	case editors:
		for i, e := range m {
			m[i] = timedEditor{e, newTimer(by, e)}
		}
		return m
	case reinvoked:
		for i, r := range m {
			m[i] = timedReinvoked{r, newTimer(by, r)}
		}
		return m
	}
	return timedMutator{m, newTimer(by, m)}
}

// mutating is the mutating phase.
type mutating struct {
	all []Mutator
	by  Observer
}

// Mutate implements [Mutator].
func (m mutating) Mutate(ctx context.Context, a Attributes) (err error) {
	o, began := a.GetOperation(), time.Now()
	for i := 0; i < len(m.all) && err == nil; i++ {
		err = m.all[i].Mutate(ctx, a)
	}
	m.by.Phase(true, o, err != nil, time.Since(began))
	return err
}

// validating is the validating phase.
type validating struct {
	all []Validator
	by  Observer
}

// Validate implements [Validator].
func (v validating) Validate(ctx context.Context, a Attributes) (err error) {
	o, began := a.GetOperation(), time.Now()
	for i := 0; i < len(v.all) && err == nil; i++ {
		err = v.all[i].Validate(ctx, a)
	}
	v.by.Phase(false, o, err != nil, time.Since(began))
	return err
}

// timer tells of one plugin.
type timer struct {
	name string
	by   Observer
}

func newTimer(by Observer, plugin any) timer {
	t := timer{by: by}
	if p, ok := plugin.(Plugin); ok {
		t.name = p.Name()
	}
	return t
}

func (t timer) told(mutates bool, o Operation, began time.Time, err error) error {
	t.by.Plugin(t.name, mutates, o, err != nil, time.Since(began))
	return err
}

type timedMutator struct {
	Mutator
	timer
}

// Mutate implements [Mutator].
func (t timedMutator) Mutate(ctx context.Context, a Attributes) error {
	began := time.Now()
	return t.told(true, a.GetOperation(), began, t.Mutator.Mutate(ctx, a))
}

type timedValidator struct {
	Validator
	timer
}

// Validate implements [Validator].
func (t timedValidator) Validate(ctx context.Context, a Attributes) error {
	began := time.Now()
	return t.told(false, a.GetOperation(), began, t.Validator.Validate(ctx, a))
}

type timedEditor struct {
	Editor
	timer
}

// Edit implements [Editor].
func (t timedEditor) Edit(ctx context.Context, a Attributes, tree map[string]any) (bool, error) {
	began := time.Now()
	changed, err := t.Editor.Edit(ctx, a, tree)
	return changed, t.told(true, a.GetOperation(), began, err)
}

type timedReinvoked struct {
	Reinvoked
	timer
}

// Begin implements [Reinvoked].
func (t timedReinvoked) Begin(ctx context.Context, a Attributes) func(*Reinvocation) Stage {
	begin := t.Reinvoked.Begin(ctx, a)
	if begin == nil {
		return nil
	}
	return func(r *Reinvocation) Stage { return timedStage{begin(r), t.timer, a.GetOperation()} }
}

type timedStage struct {
	Stage
	timer
	operation Operation
}

// Admit implements [Stage].
func (t timedStage) Admit(ctx context.Context, again bool) error {
	began := time.Now()
	return t.told(true, t.operation, began, t.Stage.Admit(ctx, again))
}
