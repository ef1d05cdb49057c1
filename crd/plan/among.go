package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// spot is a place in one of the objects around a value.
type spot struct {
	up   int
	path []string
	text string // the path
}

func newSpot(text string) (spot, error) {
	number, path, ok := strings.Cut(text, ".")
	up, err := strconv.Atoi(number)
	if !ok || err != nil {
		return spot{}, fmt.Errorf("%q is no number of an object around with a path from there", text)
	}
	parts, err := steps(path)
	return spot{up, parts, path}, err
}

func spots(texts []string) (all []spot, err error) {
	for _, text := range texts {
		where, err := newSpot(text)
		if err != nil {
			return nil, err
		}
		all = append(all, where)
	}
	return all, nil
}

// among tells whether a text is at one of the spots in the objects around. The texts there
// are collected once for all that are looked for, of which there may be as many.
func (a *asking) among(spots []spot, up []any, s string) bool {
	return slices.ContainsFunc(spots, func(at spot) bool {
		if at.up >= len(up) {
			return false
		}
		where := at.in(up)
		texts := a.texts[where]
		if texts == nil {
			texts = map[string]bool{}
			collect(up[at.up], at.path, func(v any) {
				if s, ok := v.(string); ok {
					texts[s] = true
				}
			})
			if a.texts == nil {
				a.texts = map[listed]map[string]bool{}
			}
			a.texts[where] = texts
		}
		return texts[s]
	})
}

// items are those at a spot in the objects around, collected once, nil where these end before.
func (a *asking) items(at spot, up []any) *items {
	if at.up >= len(up) {
		return nil
	}
	where := at.in(up)
	if a.lists[where] == nil {
		list := &items{}
		collect(up[at.up], at.path, func(v any) { list.all = append(list.all, v) })
		if a.lists == nil {
			a.lists = map[listed]*items{}
		}
		a.lists[where] = list
	}
	return a.lists[where]
}

// listed is a path in an object around, which is told from others by where it is.
type listed struct {
	around uintptr
	path   string
}

func (s spot) in(up []any) listed { return listed{reflect.ValueOf(up[s.up]).Pointer(), s.text} }

// collect adds what is at a path below v.
func collect(v any, path []string, add func(any)) {
	if len(path) == 0 {
		add(v)
		return
	}
	switch x := v.(type) {
	case map[string]any:
		if path[0] != "[]" {
			collect(x[path[0]], path[1:], add)
		}
	case []any:
		without := lacking(path[0])
		for _, item := range x {
			has := func(name string) bool { return valueAt(item, name) != nil }
			if path[0] == "[]" || without != nil && !slices.ContainsFunc(without, has) {
				collect(item, path[1:], add)
			}
		}
	}
}

// remove takes the values at a path away.
func remove(v any, path []string) {
	switch x := v.(type) {
	case map[string]any:
		if path[0] == "{}" {
			for _, item := range x {
				remove(item, path[1:])
			}
		} else if len(path) == 1 {
			delete(x, path[0])
		} else {
			remove(x[path[0]], path[1:])
		}
	case []any:
		if path[0] == "[]" && len(path) > 1 {
			for _, item := range x {
				remove(item, path[1:])
			}
		}
	}
}
