package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// adopted is what another server's description adds to those before it.
type adopted struct {
	// beside are the pieces that were there of the same names: as long as they are the
	// same, so is the rest.
	beside []*fragment
	// adds are new pieces, and those that take the place of another one.
	adds fragments
	err  error
}

// known are the pieces of a document by section and name.
type known [sections]map[string]*fragment

func knownOf(parts [sections]fragments) (k known) {
	for s, list := range parts {
		k[s] = make(map[string]*fragment, len(list))
		for _, f := range list {
			k[s][f.name] = f
		}
	}
	return k
}

func (k known) parts() (out [sections]fragments) {
	for s, all := range k {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			out[s] = append(out[s], all[name])
		}
	}
	return out
}

// adopt adds the descriptions of others to parts, those first that come first. before is
// what came of it the last time. One that cannot be added is left out.
func adopt(parts [sections]fragments, all []*Foreign, before map[*Foreign]*adopted) ([sections]fragments, map[*Foreign]*adopted) {
	to, after := knownOf(parts), map[*Foreign]*adopted{}
	for _, f := range all {
		beside := to.beside(f)
		a := before[f]
		if a == nil || !slices.Equal(a.beside, beside) {
			adds, err := made(func() (fragments, error) { return to.with(f) })
			a = &adopted{beside: beside, adds: adds, err: err}
		}
		for _, piece := range a.adds {
			to[piece.section][piece.name] = piece
		}
		after[f] = a
	}
	return to.parts(), after
}

// otherName is the name that a thing gets whose own has another content, at the n-th try.
func otherName(name string, n int) string { return fmt.Sprintf("%s_v%d", name, n) }

// beside are the pieces that decide what f adds: those of the same names, and of the
// names that things of f could get instead.
func (k known) beside(f *Foreign) (out []*fragment) {
	for s, things := range f.things {
		for _, name := range slices.Sorted(maps.Keys(things)) {
			at := name
			for n := 2; k[s][at] != nil; n++ {
				out = append(out, k[s][at])
				at = otherName(name, n)
			}
		}
	}
	return out
}

// with are the pieces that f adds. Paths that are there stay; of definitions and
// parameters those of the same content are shared, and others get another name, as
// kube-apiserver does it.
func (k known) with(f *Foreign) (fragments, error) {
	var out fragments
	if !slices.ContainsFunc(slices.Collect(maps.Keys(f.things[pathSection])), func(path string) bool { return k[pathSection][path] == nil }) {
		return nil, nil // nothing would use the rest
	}
	renames, shared := map[used]string{}, map[used]bool{}
	for _, s := range []section{definitionSection, parameterSection} {
		for _, name := range slices.Sorted(maps.Keys(f.things[s])) {
			u := used{s, name}
			to, there, err := k.place(f, u)
			if err != nil {
				return nil, err
			}
			if to != name {
				renames[u] = to
			}
			if there == nil {
				continue
			}
			shared[u] = true
			merged, err := withKinds(there, f.things[s][name])
			if err != nil {
				return nil, err
			}
			if merged != nil {
				out = append(out, merged)
			}
		}
	}
	for s, things := range f.things {
		for name, t := range things {
			u := used{section(s), name}
			if shared[u] || section(s) == pathSection && k[s][name] != nil {
				continue
			}
			piece, err := t.renamed(u, renames)
			if err != nil {
				return nil, err
			}
			out = append(out, piece)
		}
	}
	return out, nil
}

// place finds the name that a thing of f gets, and what is there of the same content; nil
// for nothing.
func (k known) place(f *Foreign, u used) (name string, there *fragment, err error) {
	name = u.name
	for n := 2; ; n++ {
		there = k[u.section][name]
		switch {
		case name != u.name && f.things[u.section][name] != nil:
		case there == nil:
			return name, nil, nil
		default:
			tree, err := there.tree()
			if err != nil {
				return "", nil, err
			}
			if reflect.DeepEqual(withoutKinds(tree), withoutKinds(f.things[u.section][u.name].tree)) {
				return name, there, nil
			}
		}
		name = otherName(u.name, n)
	}
}

// tree is what a piece says, as encoding/json reads it.
func (f *fragment) tree() (any, error) {
	var member map[string]any
	if err := json.Unmarshal(slices.Concat([]byte("{"), f.json, closing), &member); err != nil {
		return nil, err
	}
	return member[f.name], nil
}

// withoutKinds is a schema without the kinds that it is of.
func withoutKinds(tree any) any {
	object, ok := tree.(map[string]any)
	if !ok || object[kindsKey] == nil {
		return tree
	}
	object = maps.Clone(object)
	delete(object, kindsKey)
	return object
}

// withKinds is a piece that is also of the kinds that t is of; nil where it is already.
func withKinds(there *fragment, t *thing) (*fragment, error) {
	more := kindsOf(t.tree)
	if len(more) == 0 {
		return nil, nil
	}
	tree, err := there.tree()
	if err != nil {
		return nil, err
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New(there.name + " is no object")
	}
	all := kindsOf(tree)
	n := len(all)
	for _, one := range more {
		if !slices.ContainsFunc(all, func(have any) bool { return reflect.DeepEqual(have, one) }) {
			all = append(all, one)
		}
	}
	if len(all) == n {
		return nil, nil
	}
	slices.SortStableFunc(all, func(a, b any) int { return strings.Compare(kindKey(a), kindKey(b)) })
	object[kindsKey] = all
	changed := &thing{tree: object}
	err = changed.encode(used{there.section, there.name})
	return changed.piece, err
}

func kindsOf(tree any) []any {
	object, _ := tree.(map[string]any)
	list, _ := object[kindsKey].([]any)
	return list
}

func kindKey(kind any) string {
	at, _ := kind.(map[string]any)
	return fmt.Sprintf("%v/%v.%v", at["group"], at["version"], at["kind"])
}

// renamed is the piece of a thing once it, and what it refers to, have other names.
func (t *thing) renamed(u used, names map[used]string) (*fragment, error) {
	to := names[u]
	if to == "" {
		if !slices.ContainsFunc(t.uses, func(at used) bool { return names[at] != "" }) {
			return t.piece, nil
		}
		to = u.name
	}
	changed := &thing{tree: rewritten(t.tree, names)}
	err := changed.encode(used{u.section, to})
	return changed.piece, err
}

// rewritten is a tree that refers to things by their new names.
func rewritten(tree any, names map[used]string) any {
	switch v := tree.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = rewritten(value, names)
			if at, ok := value.(string); ok && key == "$ref" {
				if u, ok := referred(at); ok && names[u] != "" {
					out[key] = prefixes[u.section] + names[u]
				}
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = rewritten(value, names)
		}
		return out
	}
	return tree
}
