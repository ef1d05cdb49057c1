package rules

import (
	"fmt"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/crd/object"
)

func (x *CEL) compile(c *compiler) *op {
	there := c.expression("expression", x.Expression)
	if x.From == "" {
		s, p := c.paths(false, "to", x.To)
		if x.Back != "" {
			c.invalid("back", x.Back, "it makes the value of from, which is not said")
		}
		return &op{scope: s, there: computing(there, p[0]), back: func(r *run, item []string) error {
			r.take(item, p[0])
			return nil
		}}
	}
	s, p := c.paths(x.From == x.To, "from", x.From, "to", x.To)
	o := &op{scope: s, there: rewriting(there, p[0], p[1]), why: "add back, an expression whose self is the value of to"}
	if x.Back != "" {
		o.back = rewriting(c.expression("back", x.Back), p[1], p[0])
	}
	return o
}

// expression compiles an expression.
func (c *compiler) expression(name, text string) *dyn.Expression {
	known := len(c.errs)
	if c.text(name, text); len(c.errs) > known {
		return nil
	}
	e := dyn.Bounded(text)
	if err := e.Check(); err != nil {
		c.invalid(name, text, err.Error())
	}
	return e
}

// computing makes a field by the object, or the item, around it.
func computing(e *dyn.Expression, to []string) step {
	return func(r *run, item []string) error {
		if !r.around(item, to) {
			return nil
		}
		text, err := made(r, e, r.at(item, nil).Raw(), to)
		if err != nil {
			return err
		}
		if text == nil {
			r.take(item, to)
			return nil
		}
		return r.at(item, to).SetRaw(text)
	}
}

// rewriting makes a value of another one, if that is there.
func rewriting(e *dyn.Expression, from, to []string) step {
	return func(r *run, item []string) error {
		raw := r.at(item, from).Raw()
		if raw == nil {
			return nil
		}
		text, err := made(r, e, raw, to)
		if err != nil {
			return err
		}
		if text == nil {
			r.take(item, from)
			r.take(item, to)
			return nil
		}
		return r.replace(item, from, to, text)
	}
}

// made is what an expression makes of a value; nil is an optional value that is none.
func made(r *run, e *dyn.Expression, raw []byte, to []string) ([]byte, error) {
	self, err := decode(raw)
	if err != nil {
		return nil, err
	}
	value, none, err := e.Maybe(dyn.Variables{Self: self, Within: r.ctx})
	if none || err != nil {
		return nil, err
	}
	text, err := object.Append(nil, value)
	if err == nil && len(text) > maxMade {
		err = fmt.Errorf("%s becomes larger than %d bytes", show(to), maxMade)
	}
	return text, err
}
