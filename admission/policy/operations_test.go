package policy

import (
	"fmt"
	"strings"
	"testing"
)

// variables are variables, v0 and so on, each of which has the one before some times.
func variables(first, each string, levels int) string {
	all := []string{fmt.Sprintf(`{"name":"v0","expression":%q}`, first)}
	for i := range levels {
		all = append(all, fmt.Sprintf(`{"name":"v%d","expression":%q}`, i+1, strings.ReplaceAll(each, "V", fmt.Sprint("variables.v", i))))
	}
	return `"variables":[` + strings.Join(all, ",") + `],`
}

// nesting names objects, o0 and so on, each of which has the one before twice, for an
// expression.
func nesting(first string, levels int, last string) string {
	text := last
	for i := levels; i > 0; i-- {
		text = fmt.Sprintf(`[Object{a: o%d, b: o%[1]d}].map(o%d, %s)[0]`, i-1, i, text)
	}
	return `[` + first + `].map(o0, ` + text + `)[0]`
}

// Values that a few names make large are refused before anything is made of them, and so
// are operations that take too long, as in a client's patch.
func TestValuesOfMutationsAreBounded(t *testing.T) {
	list, long := variables(`[0, 0, 0, 0]`, `[V, V, V, V]`, 9), `'`+strings.Repeat("x", 8<<10)+`'`
	for name, c := range map[string]struct{ policy, want string }{
		"a value of parts":      {list + mutating(patching(`[JSONPatch{op: 'add', path: '/x', value: variables.v9}]`)), "too large"},
		"an object of parts":    {mutating(patching(nesting(long, 10, `[JSONPatch{op: 'add', path: '/x', value: o10}]`))), "too large"},
		"one that is tested":    {list + mutating(patching(`[JSONPatch{op: 'test', path: '/x', value: variables.v9}]`)), "too large"},
		"a value often":         {mutating(patching(`lists.range(10).map(i, JSONPatch{op: 'add', path: '/x', value: object.big})`)), "too large"},
		"many long paths":       {mutating(patching(`lists.range(10).map(i, JSONPatch{op: 'remove', path: object.big})`)), "too large"},
		"long work":             {mutating(patching(`lists.range(9000).map(i, JSONPatch{op: 'add', path: '/l/0', value: 0})`)), "take too long"},
		"a configuration":       {mutating(config(nesting(long, 10, `Object{a: o10}`))), "too large"},
		"one with a list":       {list + mutating(config(`Object{a: variables.v9}`)), "too large"},
		"patches that compare":  {list + mutating(patching(`JSONPatch{op: 'x', value: variables.v9} == JSONPatch{op: 'x', value: variables.v9} ? [JSONPatch{op: 'remove', path: '/n'}] : [JSONPatch{op: 'remove', path: '/n'}]`)), "too large"},
		"objects that compare":  {mutating(config(nesting(`0`, 20, `Object{host: string(o20 == o19 || o20 == o20)}`))), ""}, // each pair of them once
		"a value once":          {mutating(patching(`[JSONPatch{op: 'add', path: '/x', value: object.big}]`)), ""},
		"some operations":       {mutating(patching(`lists.range(100).map(i, JSONPatch{op: 'add', path: '/l/0', value: 0})`)), ""},
		"an object with a list": {mutating(patching(`[JSONPatch{op: 'add', path: '/x', value: Object.x{a: [Object.x.a{b: 1}]}}]`)), ""},
	} {
		w := newWorld(t)
		w.After["big"] = strings.Repeat("x", 1<<20)
		w.After["l"] = make([]any, 60_000)
		err := w.mutate(w.request(), map[string]string{"p": c.policy}, nil)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || w.Replaced != 0) {
			t.Errorf("%s: %.300v, replaced %d times", name, err, w.Replaced)
		}
	}
}

// A test that fails leaves the object as it is, and is no error.
func TestPatchesWhoseTestFails(t *testing.T) {
	w := newWorld(t)
	err := w.mutate(w.request(), map[string]string{"p": mutating(patching(`[JSONPatch{op: 'test', path: '/host', value: 'x'}, JSONPatch{op: 'remove', path: '/host'}]`))}, nil)
	if err != nil || w.Replaced != 0 || w.After["host"] != "h" {
		t.Errorf("%v, replaced %d times: %v", err, w.Replaced, w.After)
	}
}
