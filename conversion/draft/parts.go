package draft

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// known are things that are written as one text or as two fields.
var known = []struct {
	parts     [2]string
	separator string
	last      bool
	whole     []string
}{
	{[2]string{"host", "port"}, ":", true, []string{"address", "endpoint", "server", "listen"}},
	{[2]string{"address", "port"}, ":", true, []string{"endpoint", "server", "listen"}},
	{[2]string{"repository", "tag"}, ":", true, []string{"image"}},
	{[2]string{"image", "tag"}, ":", true, []string{"image"}},
	{[2]string{"namespace", "name"}, "/", false, []string{"reference"}},
	{[2]string{"group", "version"}, "/", false, []string{"api"}},
	{[2]string{"scheme", "host"}, "://", false, []string{"url", "uri"}},
	{[2]string{"user", "host"}, "@", true, nil},
	{[2]string{"key", "value"}, "=", false, []string{"pair", "entry"}},
	{[2]string{"minimum", "maximum"}, "-", false, []string{"range"}},
}

// parts finds texts of which the other version has the parts.
func (w *work) parts() {
	for _, whole := range w.gone {
		if p := w.fresh.partsOf(whole); p != nil {
			w.divide(whole, p, false)
		}
	}
	for _, whole := range w.fresh {
		if p := w.gone.partsOf(whole); p != nil {
			w.divide(whole, p, true)
		}
	}
}

// groups finds API groups that stand where an API version was, and takes them out of it.
func groups(w *work) {
	for _, whole := range w.gone {
		if !whole.free() || whole.name() != "apiVersion" || kind(whole.s) != "string" {
			continue
		}
		at := beside(whole.steps, "apiGroup")
		i := slices.IndexFunc(w.fresh, func(u *unit) bool { return u.free() && slices.Equal(u.steps, at) && kind(u.s) == "string" })
		if i < 0 {
			continue
		}
		version := "self"
		for _, step := range whole.steps[lastItem(whole.steps):] {
			version += "." + step
		}
		op := Op{At: path(at), Why: "it is what is before the / in apiVersion; an object that was written at " + w.to + " does not tell which version its reference had"}
		op.CEL = &rules.CEL{To: path(at), Expression: fmt.Sprintf("has(%s) && %s.contains('/') ? optional.of(%s.split('/')[0]) : optional.none()", version, version, version)}
		w.add(op, at)
		w.fresh.take(w.fresh[i], false)
		whole.partly = true
	}
}

// parting is a text with its parts.
type parting struct {
	parts     []*unit
	separator string
	last      bool
	// told tells that a description or a pattern has the separator.
	told bool
	why  string
}

// partsOf finds the parts of a text among the fields of the other version.
func (p pool) partsOf(whole *unit) *parting {
	if !whole.free() || kind(whole.s) != "string" || len(whole.s.Enum) > 0 {
		return nil
	}
	groups := map[string][]*unit{}
	var order []string
	for _, u := range p {
		if k := kind(u.s); u.free() && inScope(u.steps, whole.steps) && (k == "string" || k == "integer") {
			at := path(u.steps[:len(u.steps)-1])
			if groups[at] == nil {
				order = append(order, at)
			}
			groups[at] = append(groups[at], u)
		}
	}
	for _, at := range order {
		if found := partsIn(whole, groups[at]); found != nil {
			return found
		}
	}
	return nil
}

func partsIn(whole *unit, group []*unit) *parting {
	name := whole.tokens
	for _, k := range known {
		parts := []*unit{partNamed(group, k.parts[0]), partNamed(group, k.parts[1])}
		if parts[0] == nil || parts[1] == nil || parts[0] == parts[1] {
			continue
		}
		inName := slices.Contains(name, k.parts[0]) && slices.Contains(name, k.parts[1])
		called := slices.ContainsFunc(k.whole, func(word string) bool { return slices.Contains(name, word) })
		described := slices.Contains(whole.words, k.parts[0]) && slices.Contains(whole.words, k.parts[1])
		if !inName && !described && !called || !inName && isPart(name, k.parts) {
			continue
		}
		p := &parting{parts: parts, separator: k.separator, last: k.last, why: fmt.Sprintf("%s is written as %s%s%s", whole.name(), parts[0].name(), k.separator, parts[1].name())}
		p.told = tells(whole, parts, k.separator)
		return p
	}
	return partsByName(whole, group, name)
}

// isPart tells whether a name ends as that of a part does: classNamespace is a namespace.
func isPart(name []string, parts [2]string) bool {
	return len(name) > 0 && slices.Contains(parts[:], name[len(name)-1])
}

// partsByName finds two fields whose names together are that of the text.
func partsByName(whole *unit, group []*unit, name []string) *parting {
	for _, first := range group {
		for _, second := range group {
			if first == second || !slices.Equal(slices.Concat(first.tokens, second.tokens), name) {
				continue
			}
			p := &parting{parts: []*unit{first, second}, separator: "/", why: "the names of the parts make its name"}
			for _, separator := range []string{"/", ":", "-", ",", "@", "=", "."} {
				if tells(whole, p.parts, separator) {
					p.separator, p.told = separator, true
					break
				}
			}
			return p
		}
	}
	return nil
}

// partNamed is the field whose name is a word, or ends with it, if there is one only.
func partNamed(group []*unit, word string) (found *unit) {
	for _, u := range group {
		t := u.tokens
		if len(t) == 0 || t[len(t)-1] != word {
			continue
		}
		if found != nil {
			return nil
		}
		found = u
	}
	return found
}

// tells reports that a description or a pattern of a text says what is between its parts.
func tells(whole *unit, parts []*unit, separator string) bool {
	if writes(whole.s.Pattern, separator) {
		return true
	}
	at := `(?i)[<{"\[]?` + regexp.QuoteMeta(last(parts[0])) + `[>}\]]?` + regexp.QuoteMeta(separator) + `[<{\[]?` + regexp.QuoteMeta(last(parts[1]))
	e, err := regexp.Compile(at)
	return err == nil && e.MatchString(whole.s.Description)
}

// writes tells whether what a pattern matches has a separator once, always at one place, with
// something before and after it: the pattern is of the whole text, and nothing else in it
// may be the separator. What is a sign of the pattern itself says nothing, nor does what may
// be there, or several times.
func writes(pattern, separator string) bool {
	if pattern == "" {
		return false
	}
	e, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false
	}
	all := inTurn(e)
	end := len(all) - 1
	if end < 1 || all[0].Op != syntax.OpBeginText || all[end].Op != syntax.OpEndText {
		return false
	}
	all = slices.DeleteFunc(all, func(e *syntax.Regexp) bool { return e.Op == syntax.OpBeginText || e.Op == syntax.OpEndText })
	i := slices.IndexFunc(all, func(e *syntax.Regexp) bool { return e.Op == syntax.OpLiteral && string(e.Rune) == separator })
	if i < 1 || i == len(all)-1 {
		return false
	}
	others := slices.Concat(all[:i], all[i+1:])
	return slices.ContainsFunc([]rune(separator), func(r rune) bool {
		return !slices.ContainsFunc(others, func(e *syntax.Regexp) bool { return mayHave(e, r) })
	})
}

// mayHave tells whether something that an expression matches has a rune.
func mayHave(e *syntax.Regexp, r rune) bool {
	switch e.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpLiteral:
		return slices.Contains(e.Rune, r)
	case syntax.OpCharClass: // pairs of the first and the last rune of each range
		for i := 0; i < len(e.Rune); i += 2 {
			if e.Rune[i] <= r && r <= e.Rune[i+1] {
				return true
			}
		}
	}
	return slices.ContainsFunc(e.Sub, func(sub *syntax.Regexp) bool { return mayHave(sub, r) })
}

// inTurn are the expressions that an expression needs, each once, in their order, with the
// begin and the end of the text.
func inTurn(e *syntax.Regexp) (all []*syntax.Regexp) {
	switch e.Op {
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range e.Sub {
			all = append(all, inTurn(sub)...)
		}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
	default:
		return []*syntax.Regexp{e}
	}
	return all
}

func last(u *unit) string {
	t := regexp.MustCompile(`[A-Za-z][a-z0-9]*$`).FindString(u.name())
	if t == "" {
		return u.name()
	}
	return t
}

// divide adds the operations that make fields of a text, or with join a text of fields.
func (w *work) divide(whole *unit, p *parting, join bool) {
	field := path(whole.steps)
	op := Op{At: field, Certain: p.told, Why: p.why}
	if !p.told {
		op.Why += "; the separator was guessed"
		op.Alternatives = []string{"another separator", "fields that have nothing to do with it"}
	}
	var names []string
	var types []Op
	for _, part := range p.parts {
		at := path(part.steps)
		names = append(names, at)
		if kind(part.s) != "integer" {
			continue
		}
		t := Op{At: at, Certain: p.told, Why: "it is an integer, and was part of a text", Rule: rules.Rule{Type: &rules.Type{Field: at, From: "string", To: "integer"}}}
		if join {
			t.Type.From, t.Type.To, t.Why = "integer", "string", "it is an integer, and becomes part of a text"
		}
		types = append(types, t)
	}
	mine, theirs := w.gone, w.fresh
	if join {
		mine, theirs = w.fresh, w.gone
		op.Join = &rules.Join{Fields: names, Separator: p.separator, Into: field, Last: p.last}
		for _, t := range types {
			w.add(t, nil)
		}
		w.add(op, whole.steps)
	} else {
		op.Split = &rules.Split{Field: field, Separator: p.separator, Into: names, Last: p.last}
		w.add(op, nil)
		for _, t := range types {
			w.add(t, nil)
		}
	}
	mine.take(whole, p.told)
	for _, part := range p.parts {
		theirs.take(part, p.told)
	}
}
