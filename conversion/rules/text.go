package rules

import (
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
)

// maxParts is how many fields one text is split into.
const maxParts = 16

// parting is a text and the fields that are its parts.
type parting struct {
	whole     []string
	parts     [][]string
	separator string
	last      bool
}

func (s *Split) compile(c *compiler) *op {
	return c.parting("field", s.Field, "into", s.Into, s.Separator, s.Last)
}

func (j *Join) compile(c *compiler) *op {
	return turned(c.parting("into", j.Into, "fields", j.Fields, j.Separator, j.Last))
}

func (c *compiler) parting(name, whole, partsName string, parts []string, separator string, last bool) *op {
	c.text("separator", separator)
	if n := len(parts); n < 2 || n > maxParts {
		c.invalid(partsName, fmt.Sprint(n), fmt.Sprintf("want 2 to %d fields", maxParts))
	}
	named := []string{name, whole}
	for i, p := range parts {
		named = append(named, fmt.Sprintf("%s[%d]", partsName, i), p)
		if slices.Contains(parts[:i], p) {
			c.invalid(partsName, p, "it is there twice")
		}
	}
	s, p := c.paths(false, named...)
	t := parting{p[0], p[1:], separator, last}
	return &op{scope: s, there: t.split, back: t.join}
}

// cut divides a text into as many parts as there are fields, or fewer.
func (t *parting) cut(text string) []string {
	if !t.last {
		return strings.SplitN(text, t.separator, len(t.parts))
	}
	var tail []string
	for len(tail) < len(t.parts)-1 {
		at := strings.LastIndex(text, t.separator)
		if at < 0 {
			break
		}
		tail = append(tail, text[at+len(t.separator):])
		text = text[:at]
	}
	tail = append(tail, text)
	slices.Reverse(tail)
	return tail
}

func (t *parting) split(r *run, item []string) error {
	text, ok, err := r.text(item, t.whole)
	if !ok {
		return err
	}
	r.clear(item, t.whole)
	own := false // one of the parts has the place of the whole, or one around or in it
	for i, part := range t.cut(text) {
		if err := r.at(item, t.parts[i]).SetString(part); err != nil {
			return err
		}
		own = own || inside(t.parts[i], t.whole) || inside(t.whole, t.parts[i])
	}
	if !own {
		r.take(item, t.whole)
	}
	return nil
}

// join refuses parts that could not be told from each other again.
func (t *parting) join(r *run, item []string) error {
	var parts []string
	for i, p := range t.parts {
		part, ok, err := r.text(item, p)
		switch {
		case err != nil:
			return err
		case ok && len(parts) < i:
			return fmt.Errorf("%s is there without %s", show(p), show(t.parts[len(parts)]))
		case ok:
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	text := strings.Join(parts, t.separator)
	if !slices.Equal(t.cut(text), parts) {
		return fmt.Errorf("the separator is in one of the parts of %s, so that they could not be told from each other again", show(t.whole))
	}
	if err := r.at(item, t.whole).SetString(text); err != nil {
		return err
	}
	for _, p := range t.parts {
		if !inside(p, t.whole) {
			r.take(item, p)
		}
	}
	return nil
}

func (x *Regexp) compile(c *compiler) *op {
	s, p := c.paths(true, "field", x.Field)
	o := &op{scope: s, there: c.replacing("match", p[0], x.Replacement), why: "add back.match and back.replace"}
	if x.Back != nil {
		o.back = c.replacing("back.match", p[0], *x.Back)
	}
	return o
}

func (c *compiler) replacing(name string, path []string, x Replacement) step {
	c.text(name, x.Match)
	e, err := regexp.Compile(x.Match)
	if err != nil {
		c.invalid(name, x.Match, err.Error())
		return nil
	}
	steps := instructions(x.Match)
	if strings.Contains(x.Replace, "$") { // what the groups matched is kept for each
		steps *= 1 + e.NumSubexp()
	}
	return func(r *run, item []string) error {
		text, ok, err := r.text(item, path)
		if !ok {
			return err
		}
		if len(text) > maxSearch/steps {
			return fmt.Errorf("%s is too long for the expression: %d bytes", show(path), len(text))
		}
		if err := r.affords(e, steps, text, x.Replace); err != nil {
			return fmt.Errorf("%s %w", show(path), err)
		}
		replaced := e.ReplaceAllString(text, x.Replace)
		if replaced == text {
			return nil
		}
		if len(replaced) > maxMade {
			return fmt.Errorf("%s becomes larger than %d bytes", show(path), maxMade)
		}
		return r.at(item, path).SetString(replaced)
	}
}

// maxMade is the size of the largest text that a rule makes.
const maxMade = 1 << 20

// maxSearch bounds the bytes of a text times the instructions of an expression, which is
// what a search may take: some seconds, that nothing ends before.
const maxSearch = 1 << 28

// maxSearched is the same for all searches of a text, below which they are not timed, and
// maxSearching how long those may take that are.
const (
	maxSearched  = 1 << 26
	maxSearching = 5 * time.Second
)

// instructions are those of an expression that compiles.
func instructions(expression string) int {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return 1
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 1
	}
	return max(len(program.Inst), 1)
}

// stopped ends a pass of the regexp library, which can be ended by nothing else.
type stopped struct{ why error }

// affords looks, before a replacement is made, at how long its searches take and at how
// large it may become: each search after a match may go to the end of the text, and what a
// match becomes is at most the replacement, with the match for each $.
func (r *run) affords(e *regexp.Regexp, steps int, text, replace string) (err error) {
	const most = 8 * maxMade
	dollars := strings.Count(replace, "$")
	becomes := func(matches, matched int) int { return len(text) + matches*len(replace) + dollars*matched }
	if len(text) < maxSearched/steps/(len(text)+1) && becomes(len(text)+1, len(text)) <= most {
		return nil
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case stopped:
			err = v.why
		default:
			panic(v)
		}
	}()
	matches, matched, begun := 0, 0, time.Now()
	e.ReplaceAllStringFunc(text, func(match string) string {
		matches++
		matched += len(match)
		switch {
		case r.ctx.Err() != nil:
			panic(stopped{r.ctx.Err()})
		case time.Since(begun) > maxSearching:
			panic(stopped{fmt.Errorf("is searched for longer than %s", maxSearching)})
		case becomes(matches, matched) > most:
			panic(stopped{fmt.Errorf("becomes larger than %d bytes", maxMade)})
		}
		return ""
	})
	return nil
}

func (m *Map) compile(c *compiler) *op {
	s, p := c.paths(true, "field", m.Field)
	switch n := len(m.Values); {
	case n == 0:
		c.text("values", "")
	case n > maxValues || len(m.Back) > maxValues:
		c.invalid("values", fmt.Sprint(n), fmt.Sprintf("there are more than %d", maxValues))
	}
	if m.Others != "" && m.Others != "Keep" && m.Others != "Fail" {
		c.invalid("others", m.Others, "want Keep or Fail")
	}
	back := maps.Clone(m.Back)
	if back == nil {
		back = map[string]string{}
	}
	for _, from := range slices.Sorted(maps.Keys(m.Values)) {
		to := m.Values[from]
		other, known := back[to]
		if _, said := m.Back[to]; known && !said {
			c.invalid("values", to, fmt.Sprintf("both %q and %q become it; say in back which of them it becomes", other, from))
		}
		if !known {
			back[to] = from
		}
	}
	fail := m.Others == "Fail"
	return &op{scope: s, there: mapping(p[0], m.Values, back, fail), back: mapping(p[0], back, m.Values, fail)}
}

// mapping replaces values. One that stays, and would not on the way back, is refused.
func mapping(path []string, values, back map[string]string, fail bool) step {
	return func(r *run, item []string) error {
		text, ok, err := r.text(item, path)
		if !ok {
			return err
		}
		to, known := values[text]
		if known {
			return r.at(item, path).SetString(to)
		}
		if other, taken := back[text]; fail || taken && other != text {
			return fmt.Errorf("%s has a value that the rule does not name, so that it would not come back", show(path))
		}
		return nil
	}
}
