package rules

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// maxMembers is how many members a union has at most.
const maxMembers = 64

// choice is a union: one of several members, and the field that tells which.
type choice struct {
	names         []string
	members       [][]string
	discriminator []string
	value         []string // nil where members have places of their own in both versions
	keep          []string
}

func (u *Union) compile(c *compiler) *op {
	if n := len(u.Members); n == 0 || n > maxMembers {
		c.invalid("members", fmt.Sprint(n), fmt.Sprintf("want 1 to %d members", maxMembers))
	}
	x := &choice{names: slices.Sorted(maps.Keys(u.Members))}
	named := []string{"discriminator", u.Discriminator}
	for _, name := range x.names {
		named = append(named, "members["+name+"]", u.Members[name])
	}
	if u.Value != "" {
		named = append(named, "value", u.Value)
	}
	s, p := c.paths(false, named...)
	x.discriminator, x.members = p[0], p[1:1+len(x.names)]
	if u.Value != "" {
		x.value = p[len(p)-1]
	}
	if u.Keep != "" {
		x.keep = c.annotation("keep", u.Keep, s)
	}
	return &op{scope: s, there: x.open, back: x.close}
}

// present are the members that are there.
func (x *choice) present(r *run, item []string) (all []int) {
	for i := range x.members {
		if r.at(item, x.members[i]).Exists() {
			all = append(all, i)
		}
	}
	return all
}

// open takes the discriminator away.
func (x *choice) open(r *run, item []string) error {
	name, ok, err := r.text(item, x.discriminator)
	if err != nil {
		return err
	}
	if ok && x.value != nil {
		if n := slices.Index(x.names, name); n >= 0 {
			if err := moving(x.value, x.members[n])(r, item); err != nil {
				return err
			}
		}
	}
	there := x.present(r, item)
	switch {
	case len(there) == 1 && ok && x.names[there[0]] == name, len(there) == 0 && !ok:
		r.take(item, x.discriminator)
		return nil
	case x.keep == nil:
		return fmt.Errorf("%s is not the name of the one member that is there; keep: ANNOTATION would keep it", show(x.discriminator))
	}
	kept := []byte(`null`)
	if ok {
		kept = rawjson.AppendString(nil, name)
	}
	r.take(item, x.discriminator)
	return r.at(nil, x.keep).SetString(string(x.beside(kept, there)))
}

// beside is what is kept: the name, and the members that were there with it.
func (x *choice) beside(name []byte, there []int) []byte {
	out := append([]byte{'['}, name...)
	for _, i := range there {
		out = rawjson.AppendString(append(out, ','), x.names[i])
	}
	return append(out, ']')
}

// close makes the discriminator again.
func (x *choice) close(r *run, item []string) error {
	name, err := x.name(r, item)
	if err != nil || name == "" {
		return err
	}
	if n := slices.Index(x.names, name); n >= 0 && x.value != nil {
		if err := moving(x.members[n], x.value)(r, item); err != nil {
			return err
		}
	}
	return r.at(item, x.discriminator).SetString(name)
}

// name is that of the member that is there, or what was kept beside just these members:
// whoever has given the object others since does not know of the annotation.
func (x *choice) name(r *run, item []string) (string, error) {
	there := x.present(r, item)
	if x.keep != nil {
		text, _ := rawjson.String(r.take(nil, x.keep))
		kept := []byte(text)
		if w, _ := rawjson.Open(kept, 0, false); w.Next() {
			kept = w.Value()
		}
		name, ok := rawjson.String(kept) // without members it is as it was kept once
		if ok && text == string(kept) || text == `null` || text == string(x.beside(kept, there)) {
			return name, nil
		}
	}
	switch len(there) {
	case 0:
		return "", nil
	case 1:
		return x.names[there[0]], nil
	}
	var all []string
	for _, i := range there {
		all = append(all, show(x.members[i]))
	}
	return "", errors.New(strings.Join(all, " and ") + " are there, and the other version holds one")
}
