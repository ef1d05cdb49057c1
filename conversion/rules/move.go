package rules

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// nothing does nothing: the way back of what is lost.
func nothing(*run, []string) error { return nil }

// moving moves a value from one place to another.
func moving(from, to []string) step {
	return func(r *run, item []string) error {
		if raw := r.at(item, from).Raw(); raw != nil {
			return r.replace(item, from, to, raw)
		}
		return nil
	}
}

// replace puts a value at one place and takes that at another away, of which it was
// made. Each place may be in the other.
func (r *run) replace(item, from, to []string, raw []byte) error {
	if inside(from, to) {
		r.clear(item, from)
	}
	if err := r.at(item, to).SetRaw(raw); err != nil {
		return err
	}
	if !inside(from, to) && !inside(to, from) {
		r.take(item, from)
	}
	return nil
}

// clear makes null of a field that is there, which makes room for an object. Nothing is
// in its way.
func (r *run) clear(item, path []string) { _ = r.at(item, path).SetRaw([]byte("null")) }

// inside tells whether a place is in another one.
func inside(outer, inner []string) bool {
	if len(inner) < len(outer) {
		return false
	}
	for i := range outer {
		if inner[i] != outer[i] {
			return false
		}
	}
	return true
}

func (m *Move) compile(c *compiler) *op {
	s, p := c.paths(false, "from", m.From, "to", m.To)
	if m.From == m.To {
		c.invalid("to", m.To, "it is where the value is")
	}
	return &op{scope: s, there: moving(p[0], p[1]), back: moving(p[1], p[0])}
}

func (m *Rename) compile(c *compiler) *op {
	s, p := c.paths(false, "field", m.Field)
	c.text("to", m.To)
	if len(c.errs) > 0 {
		return nil
	}
	to := append(append([]string{}, p[0][:len(p[0])-1]...), m.To)
	if inside(p[0], to) {
		c.invalid("to", m.To, "it is the name that the field has")
	}
	if err := reserved(to); len(s.groups) == 0 && err != nil {
		c.invalid("to", m.To, err.Error())
	}
	return &op{scope: s, there: moving(p[0], to), back: moving(to, p[0])}
}

func (m *Remove) compile(c *compiler) *op {
	s, p := c.paths(false, "field", m.Field)
	return &op{scope: s, back: nothing, there: func(r *run, item []string) error {
		r.take(item, p[0])
		return nil
	}}
}

// duplicate is Move that leaves the value where it is.
type duplicate Move

func (m *duplicate) compile(c *compiler) *op {
	s, p := c.paths(false, "from", m.From, "to", m.To)
	if len(c.errs) == 0 && (inside(p[0], p[1]) || inside(p[1], p[0])) {
		c.invalid("to", m.To, "one of the two places is in the other")
	}
	return &op{scope: s,
		there: func(r *run, item []string) error {
			if raw := r.at(item, p[0]).Raw(); raw != nil {
				return r.at(item, p[1]).SetRaw(raw)
			}
			return nil
		},
		back: func(r *run, item []string) error {
			r.take(item, p[1])
			return nil
		},
	}
}

// value reads the value of a rule.
func (c *compiler) value(raw json.RawMessage) []byte {
	switch end, err := rawjson.Skip(raw, 0); {
	case len(raw) == 0:
		c.text("value", "")
	case len(raw) > maxText:
		c.invalid("value", "", "it is too large")
	case err != nil || rawjson.Space(raw, end) != len(raw):
		c.invalid("value", string(raw), "it is not JSON")
	}
	return raw
}

// around tells whether the object is there that has the field.
func (r *run) around(item, path []string) bool {
	if len(path) == 1 && len(item) == 0 {
		return true
	}
	raw := r.at(item, path[:len(path)-1]).Raw()
	return bytes.HasPrefix(raw, []byte("{"))
}

// absent gives a field that is not there a value, and takes it away on the way back.
type absent Value

func (v *absent) compile(c *compiler) *op {
	s, p := c.paths(false, "field", v.Field)
	value := c.value(v.Value)
	return &op{scope: s,
		there: func(r *run, item []string) error {
			if f := r.at(item, p[0]); !f.Exists() && r.around(item, p[0]) {
				return f.SetRaw(value)
			}
			return nil
		},
		back: func(r *run, item []string) error {
			if f := r.at(item, p[0]); sameValue(f.Raw(), value) {
				f.Delete()
			}
			return nil
		},
	}
}

// always gives a field a value, whatever it had; on the way back it goes.
type always Value

func (v *always) compile(c *compiler) *op {
	s, p := c.paths(false, "field", v.Field)
	value := c.value(v.Value)
	return &op{scope: s,
		there: func(r *run, item []string) error {
			if !r.around(item, p[0]) {
				return nil
			}
			return r.at(item, p[0]).SetRaw(value)
		},
		back: func(r *run, item []string) error {
			r.at(item, p[0]).Delete()
			return nil
		},
	}
}

// sameValue compares JSON, of which what no object can hold is like nothing else.
func sameValue(a, b []byte) bool {
	x, err := decode(a)
	y, err2 := decode(b)
	return errors.Join(err, err2) == nil && object.Equal(x, y)
}

// decode reads any JSON as objects hold it.
func decode(raw []byte) (any, error) {
	wrapped := append(append([]byte(`{"v":`), raw...), '}')
	tree, _, err := object.Parse(wrapped)
	return tree["v"], err
}
