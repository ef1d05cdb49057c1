package rules

import (
	"fmt"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/sdk/rawjson"
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
	c.text(name, text)
	if len(text) > maxText {
		return nil
	}
	e := dyn.New(text)
	if err := e.Check(); text != "" && err != nil {
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
		raw := r.o.JSON()
		if len(item) > 0 {
			raw = r.at(item, nil).Raw()
		}
		return made(r, e, raw, item, to, func() {})
	}
}

// rewriting makes a value of another one, if that is there.
func rewriting(e *dyn.Expression, from, to []string) step {
	return func(r *run, item []string) error {
		raw := r.at(item, from).Raw()
		if raw == nil {
			return nil
		}
		return made(r, e, raw, item, to, func() {
			if !inside(to, from) {
				r.take(item, from)
			}
		})
	}
}

// made puts at a place what an expression makes of a value; an optional value that is
// none makes no field.
func made(r *run, e *dyn.Expression, raw []byte, item, to []string, after func()) error {
	self, err := decode(raw)
	if err != nil {
		return err
	}
	value, none, err := e.Maybe(dyn.Variables{Self: self})
	if err != nil {
		return err
	}
	if none {
		after()
		r.take(item, to)
		return nil
	}
	text, err := object.Append(nil, value)
	if err != nil {
		return err
	}
	if len(text) > maxMade || !valid(text) {
		return fmt.Errorf("%s becomes larger than %d bytes, or no JSON", show(to), maxMade)
	}
	if err := r.at(item, to).SetRaw(text); err != nil {
		return err
	}
	after()
	return nil
}

func valid(text []byte) bool {
	end, err := rawjson.Skip(text, 0)
	return err == nil && end == len(text)
}
