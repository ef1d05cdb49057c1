package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// effect is where a leaf arrives: by place, the values there for those that it was given.
type effect map[string][]string

// flatten lists the scalars of an object by their places, those that say nothing left out:
// types differ in whether they write them.
func flatten(data []byte, s *schema) (map[string]string, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var o map[string]any
	if err := d.Decode(&o); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, v := range o {
		if name == "apiVersion" || name == "kind" || name == "metadata" {
			continue
		}
		one, known := s.Properties[name]
		if !known {
			one = schema{}
		}
		spread(out, name, v, &one)
	}
	return out, nil
}

func spread(out map[string]string, at string, v any, s *schema) {
	switch v := v.(type) {
	case map[string]any:
		if len(s.Properties) == 0 && (s.AdditionalProperties == nil || s.AdditionalProperties.Schema == nil) {
			text, _ := json.Marshal(v)
			if string(text) != "{}" {
				out[at] += string(text)
			}
			return
		}
		for name, value := range v {
			if one, known := s.Properties[name]; known || s.AdditionalProperties == nil {
				spread(out, join(at, name), value, &one)
				continue
			}
			spread(out, at+item, value, s.AdditionalProperties.Schema)
			if name != key {
				out[at+"{key}"] += name
			}
		}
	case []any:
		one := &schema{}
		if s.Items != nil && s.Items.Schema != nil {
			one = s.Items.Schema
		}
		for _, value := range v {
			spread(out, at+item, value, one)
		}
	default:
		if text := fmt.Sprint(v); v != nil && text != "" && text != "0" && text != "false" {
			out[at] += text
		}
	}
}

// between compares what objects became that differ in one leaf.
func between(outputs []map[string]string) effect {
	e := effect{}
	for _, o := range outputs {
		for at := range o {
			values := make([]string, len(outputs))
			for i, other := range outputs {
				values[i] = other[at]
			}
			if slices.ContainsFunc(values, func(v string) bool { return v != values[0] }) {
				e[at] = values
			}
		}
	}
	return e
}

// as tells whether an effect is that a leaf's values arrive at one place as they were.
func (e effect) as(place string, values []string) bool {
	return len(e) == 1 && e[place] != nil && slices.Equal(e[place], values)
}

func (e effect) equal(other effect) bool {
	for at, values := range e {
		if !slices.Equal(values, other[at]) {
			return false
		}
	}
	return len(e) == len(other)
}

func (e effect) places() (all []string) {
	for at := range e {
		all = append(all, at)
	}
	slices.Sort(all)
	return all
}

func (e effect) String() string {
	if len(e) == 0 {
		return "nothing"
	}
	return strings.Join(e.places(), ", ")
}
