package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	node "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// Change returns a document in YAML with the value of the object, which is JSON. Lines
// that say the same stay, with their comments, in their order; what is new stands where
// something went, or at the end. What cannot be changed in this way, as anchors, is
// written anew, without comments.
func Change(document, object []byte) ([]byte, error) {
	now, err := decode(object)
	if err != nil {
		return nil, err
	}
	before, err := read(document)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(before, now) {
		return document, nil
	}
	if text, err := edited(document, before, now); err == nil {
		if got, err := read(text); err == nil && reflect.DeepEqual(got, now) { // a mistake here may cost comments, no data
			return text, nil
		}
	}
	text, err := anew(now)
	if err == nil && separates(document) {
		text = append([]byte("---\n"), text...)
	}
	return text, err
}

// read is the value of a document.
func read(document []byte) (any, error) {
	data, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, err
	}
	return decode(data)
}

func decode(data []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // 1.0 is written otherwise than 1
	err = d.Decode(&value)
	return value, err
}

var errAnew = errors.New("it has to be written anew")

// edited changes the text of a document.
func edited(document []byte, before, now any) ([]byte, error) {
	var root node.Node
	if err := node.Unmarshal(document, &root); err != nil {
		return nil, err
	}
	if root.Kind != node.DocumentNode || len(root.Content) != 1 || isOdd(document) {
		return nil, errAnew
	}
	e := &editor{text: string(document)}
	for i, c := range e.text {
		if c == '\n' {
			e.lines = append(e.lines, i+1)
		}
	}
	e.lines = append([]int{0}, e.lines...)
	if err := e.value(root.Content[0], before, now, len(e.text)); err != nil {
		return nil, err
	}
	return e.apply()
}

// isOdd reports whether a text may have lines that end otherwise than with \n, as YAML
// allows (1.1, section 4.1.4), begins with a mark of its byte order, or is UTF-16: a
// parser counts lines and columns otherwise then.
func isOdd(text []byte) bool {
	const odd = "\r\u0085\u2028\u2029\ufeff"
	return !utf8.Valid(text) || bytes.ContainsAny(text, odd) && bytes.ContainsAny(bytes.ReplaceAll(text, []byte("\r\n"), nil), odd)
}

// editor collects what changes in a text.
type editor struct {
	text  string
	lines []int // where each begins
	edits []edit
}

// edit puts another text where there was one.
type edit struct {
	from, to int
	text     string
}

// apply is the text with all edits, of which none may overlap.
func (e *editor) apply() ([]byte, error) {
	slices.SortStableFunc(e.edits, func(a, b edit) int { return a.from - b.from })
	var out bytes.Buffer
	at := 0
	for _, x := range e.edits {
		if x.from < at || x.to < x.from {
			return nil, errAnew
		}
		out.WriteString(e.text[at:x.from])
		out.WriteString(x.text)
		at = x.to
	}
	out.WriteString(e.text[at:])
	return out.Bytes(), nil
}

// offset is where a node begins.
func (e *editor) offset(n *node.Node) int {
	at := e.lines[n.Line-1]
	for range n.Column - 1 { // columns are characters
		_, size := utf8.DecodeRuneInString(e.text[at:])
		at += size
	}
	return at
}

// end is where the text of what begins at from ends, of which the next thing begins at
// limit: before the comments that stand above that, which are indented no deeper than
// column says.
func (e *editor) end(from, limit, column int) int {
	end := limit
	for {
		body := strings.TrimRight(e.text[from:end], " \t\r\n")
		end = from + len(body)
		line := strings.LastIndexByte(body, '\n') + 1
		last := body[line:]
		indent := len(last) - len(strings.TrimLeft(last, " "))
		if line == 0 || !strings.HasPrefix(last[indent:], "#") && !isEnd(last) || indent >= column {
			return end
		}
		end = from + line
	}
}

// isEnd reports whether a line ends a document.
func isEnd(line string) bool { return strings.TrimSpace(line) == "..." && line[0] == '.' }

// value lets a node that ends before limit have another value.
func (e *editor) value(n *node.Node, before, now any, limit int) error {
	if reflect.DeepEqual(before, now) {
		return nil
	}
	if n.Kind == node.AliasNode || n.Anchor != "" || n.Style&node.FlowStyle != 0 {
		return errAnew
	}
	switch b := before.(type) {
	case map[string]any:
		if a, ok := now.(map[string]any); ok && n.Kind == node.MappingNode {
			return e.mapping(n, b, a, limit)
		}
	case []any:
		if a, ok := now.([]any); ok && n.Kind == node.SequenceNode && len(a) == len(b) && len(n.Content) == len(b) {
			return e.items(n, b, a, limit)
		}
	}
	return errAnew
}

// items are those of a list that has as many as before.
func (e *editor) items(n *node.Node, before, now []any, limit int) error {
	for i, item := range n.Content {
		next := limit
		if i+1 < len(n.Content) {
			next = strings.LastIndexByte(e.text[:e.offset(n.Content[i+1])], '\n') + 1 // its dash
		}
		mark := len(e.edits)
		if err := e.value(item, before[i], now[i], next); err == nil {
			continue
		}
		e.edits = e.edits[:mark]
		from := e.offset(item)
		text, err := rendered(now[i], item.Column-1)
		if err != nil {
			return err
		}
		e.edits = append(e.edits, edit{from, e.end(from, next, item.Column-1), text + comment(item)})
	}
	return nil
}

// comment is what stands behind a scalar in its line.
func comment(n *node.Node) string {
	if n.Kind == node.ScalarNode && n.LineComment != "" {
		return " " + n.LineComment
	}
	return ""
}

// entry is a field in a text.
type entry struct {
	key, value *node.Node
	from, end  int // of its text
	next       int // where the next field begins, or what holds this one ends
}

// entries are the fields of a mapping.
func (e *editor) entries(n *node.Node, limit int) (all []entry) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		x := entry{key: n.Content[i], value: n.Content[i+1], from: e.offset(n.Content[i]), next: limit}
		if i+2 < len(n.Content) {
			x.next = e.offset(n.Content[i+2])
		}
		x.end = e.end(x.from, x.next, x.key.Column)
		all = append(all, x)
	}
	return all
}

// mapping changes, removes and adds fields.
func (e *editor) mapping(n *node.Node, before, now map[string]any, limit int) error {
	all := e.entries(n, limit)
	if !slices.ContainsFunc(all, func(x entry) bool { _, stays := now[x.key.Value]; return stays }) {
		return errAnew
	}
	column := n.Content[0].Column - 1
	added, err := addedTo(before, now, column)
	if err != nil {
		return err
	}
	indent := "\n" + strings.Repeat(" ", column)
	staying := len(all) // how many there are up to the last one that stays
	for ; staying > 0; staying-- {
		if _, stays := now[all[staying-1].key.Value]; stays {
			break
		}
	}
	for i, x := range all {
		value, stays := now[x.key.Value]
		if _, known := before[x.key.Value]; !known || x.key.Value == "<<" {
			return errAnew
		}
		switch {
		case stays:
			err = e.field(x, before[x.key.Value], value)
		case len(added) > 0: // what is new stands where something went
			e.edits = append(e.edits, edit{x.from, x.end, strings.Join(added, indent)})
			added = nil
		case i < staying:
			e.remove(x)
		default: // the last ones, with the end of the line before each
			e.edits = append(e.edits, edit{e.lineEnd(x.from), x.end, ""})
		}
		if err != nil {
			return err
		}
	}
	if len(added) > 0 {
		last := all[len(all)-1]
		e.edits = append(e.edits, edit{last.end, last.end, indent + strings.Join(added, indent)})
	}
	return nil
}

// remove takes a field away that another follows, but for the comments above that.
func (e *editor) remove(x entry) {
	if rest := e.text[x.end:x.next]; strings.Contains(rest, "#") {
		end := x.end + strings.IndexByte(rest, '#')
		e.edits = append(e.edits, edit{x.from, end, ""})
		return
	}
	e.edits = append(e.edits, edit{x.from, x.next, ""})
}

// lineEnd is the end of the line before the one of from.
func (e *editor) lineEnd(from int) int {
	return max(strings.LastIndexByte(e.text[:from], '\n'), 0)
}

// field lets a field have another value.
func (e *editor) field(x entry, before, now any) error {
	mark := len(e.edits)
	if err := e.value(x.value, before, now, x.next); err == nil {
		return nil
	}
	e.edits = e.edits[:mark]
	text, err := rendered(map[string]any{x.key.Value: now}, x.key.Column-1)
	if err != nil {
		return err
	}
	e.edits = append(e.edits, edit{x.from, x.end, text + comment(x.value)})
	return nil
}

// addedTo are the fields that were not there before, as texts, by their names.
func addedTo(before, now map[string]any, column int) (texts []string, err error) {
	var names []string
	for name := range now {
		if _, known := before[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		text, err := rendered(map[string]any{name: now[name]}, column)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}
