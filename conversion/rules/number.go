package rules

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// maxDigits bounds numbers: what JSON writes longer is not computed with.
const maxDigits = 64

// number reads a JSON number without loss.
func number(text string) (*big.Rat, bool) {
	exponent := strings.ContainsAny(text, "eE")
	if len(text) > maxDigits || exponent && !smallExponent(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// smallExponent keeps 1e999999999 from being written out.
func smallExponent(text string) bool {
	_, digits, _ := strings.Cut(strings.ToLower(text), "e")
	n, err := strconv.Atoi(digits)
	return err == nil && -400 < n && n < 400
}

// appendNumber writes a number without loss; ok is false for what has no end.
func appendNumber(dst []byte, x *big.Rat) (_ []byte, ok bool) {
	if x.IsInt() {
		return x.Num().Append(dst, 10), true
	}
	digits, exact := x.FloatPrec()
	if !exact || digits > maxDigits {
		return dst, false
	}
	return append(dst, x.FloatString(digits)...), true
}

// factor reads a number or a fraction as people write it: decimals without exponents.
func factor(text string) (*big.Rat, bool) {
	if len(text) > maxDigits || strings.Trim(text, "+-.0123456789/") != "" {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

func (s *Scale) compile(c *compiler) *op {
	sc, p := c.paths(true, "field", s.Field)
	c.text("by", s.By)
	by, ok := factor(s.By)
	if !ok || by.Sign() == 0 {
		c.invalid("by", s.By, "want a number that is not 0, such as 1000, 0.5 or 1/60")
		return nil
	}
	if s.Round != "" && s.Round != "Down" && s.Round != "Up" && s.Round != "Nearest" {
		c.invalid("round", s.Round, "want Down, Up or Nearest")
	}
	return &op{scope: sc, there: scaling(p[0], by, s.Round), back: scaling(p[0], new(big.Rat).Inv(by), s.Round)}
}

func scaling(path []string, by *big.Rat, round string) step {
	return func(r *run, item []string) error {
		f := r.at(item, path)
		raw := f.Raw()
		if raw == nil || rawjson.IsNull(raw) {
			return nil
		}
		x, ok := number(string(raw))
		if !ok {
			return fmt.Errorf("%s is not a number of at most %d digits", show(path), maxDigits)
		}
		x.Mul(x, by)
		if round != "" {
			rounded(x, round)
		}
		text, ok := appendNumber(nil, x)
		if !ok {
			return fmt.Errorf("%s has no end when it is scaled: say how to round", show(path))
		}
		return f.SetRaw(text)
	}
}

// rounded makes a number an integer.
func rounded(x *big.Rat, how string) {
	if x.IsInt() {
		return
	}
	down := new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: towards less
	half := new(big.Rat).Sub(x, new(big.Rat).SetInt(down))
	if how == "Up" || how == "Nearest" && half.Cmp(big.NewRat(1, 2)) >= 0 {
		down.Add(down, big.NewInt(1))
	}
	x.SetInt(down)
}

// units are the units of each kind, as what they are of the smallest one.
var units = map[string]map[string]*big.Rat{
	"Duration": {"ns": ten(0), "us": ten(3), "\u00b5s": ten(3), "\u03bcs": ten(3), "ms": ten(6), "s": ten(9), "m": scaled(ten(9), 60), "h": scaled(ten(9), 3600)},
	"Quantity": {
		"n": ten(0), "u": ten(3), "m": ten(6), "": ten(9), "k": ten(12), "M": ten(15), "G": ten(18), "T": ten(21), "P": ten(24), "E": ten(27),
		"Ki": two(10), "Mi": two(20), "Gi": two(30), "Ti": two(40), "Pi": two(50), "Ei": two(60),
	},
}

func ten(n int64) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil))
}
func two(n uint) *big.Rat {
	return new(big.Rat).Mul(ten(9), new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), n)))
}
func scaled(x *big.Rat, n int64) *big.Rat { return x.Mul(x, big.NewRat(n, 1)) }

func (u *Unit) compile(c *compiler) *op {
	s, p := c.paths(true, "field", u.Field)
	kind := units[u.Kind]
	if kind == nil {
		c.invalid("kind", u.Kind, "want Duration or Quantity")
		return nil
	}
	size := kind[u.Unit]
	if size == nil {
		c.invalid("unit", u.Unit, map[string]string{
			"Duration": "want ns, us, ms, s, m or h", "Quantity": "want n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or nothing",
		}[u.Kind])
	}
	return &op{scope: s,
		there: func(r *run, item []string) error {
			f := r.at(item, p[0])
			raw := f.Raw()
			if raw == nil || rawjson.IsNull(raw) {
				return nil
			}
			x, ok := number(string(raw))
			if ok {
				raw, ok = appendNumber(nil, x) // units do not go with exponents
			}
			if !ok {
				return fmt.Errorf("%s is not a number of at most %d digits", show(p[0]), maxDigits)
			}
			return f.SetString(string(raw) + u.Unit)
		},
		back: func(r *run, item []string) error {
			text, ok, err := r.text(item, p[0])
			if !ok {
				return err
			}
			sum, ok := measured(text, kind)
			if ok {
				var out []byte
				if out, ok = appendNumber(nil, sum.Quo(sum, size)); ok {
					return r.at(item, p[0]).SetRaw(out)
				}
			}
			return fmt.Errorf("%s is no %s in %q that can be written as a number", show(p[0]), u.Kind, u.Unit)
		},
	}
}

// measured adds what a text such as 1m30s measures.
func measured(text string, kind map[string]*big.Rat) (*big.Rat, bool) {
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	if text == "" || len(text) > maxDigits {
		return nil, false
	}
	const digits = "0123456789."
	sum := new(big.Rat)
	for text != "" {
		after := strings.TrimLeft(text, digits)
		value, ok := number(text[:len(text)-len(after)])
		text = strings.TrimLeftFunc(after, func(c rune) bool { return !strings.ContainsRune(digits, c) })
		size := kind[after[:len(after)-len(text)]]
		if !ok || size == nil || kind[""] != nil && text != "" { // a quantity has one number
			return nil, false
		}
		sum.Add(sum, value.Mul(value, size))
	}
	if negative {
		sum.Neg(sum)
	}
	return sum, true
}

func (t *Type) compile(c *compiler) *op {
	s, p := c.paths(true, "field", t.Field)
	for _, x := range [][2]string{{"from", t.From}, {"to", t.To}} {
		if types[x[1]] == nil {
			c.invalid(x[0], x[1], "want string, integer, number or boolean")
		}
	}
	if t.From == t.To || t.From == "boolean" && t.To != "string" || t.To == "boolean" && t.From != "string" {
		c.invalid("to", t.To, "a "+t.From+" does not become that")
	}
	return &op{scope: s, there: typing(p[0], t.From, t.To), back: typing(p[0], t.To, t.From)}
}

// types tell whether a text is that of a value.
var types = map[string]func(text string) bool{
	"string":  func(string) bool { return true },
	"integer": func(text string) bool { _, err := strconv.ParseInt(text, 10, 64); return err == nil },
	"number":  func(text string) bool { _, ok := number(text); return ok && isJSON(text) },
	"boolean": func(text string) bool { return text == "true" || text == "false" },
}

func isJSON(text string) bool {
	end, err := rawjson.Skip([]byte(text), 0)
	return err == nil && end == len(text)
}

func typing(path []string, from, to string) step {
	return func(r *run, item []string) error {
		f := r.at(item, path)
		raw := f.Raw()
		if raw == nil || rawjson.IsNull(raw) {
			return nil
		}
		text, isText := rawjson.String(raw)
		if !isText {
			text = string(raw)
		}
		canonical := to != "integer" || isJSON(text) // +1 and 007 would not come back
		if isText != (from == "string") || !types[from](text) || !types[to](text) || !canonical {
			return fmt.Errorf("%s is no %s that is a %s", show(path), from, to)
		}
		if to == "string" {
			return f.SetString(text)
		}
		return f.SetRaw([]byte(text))
	}
}
