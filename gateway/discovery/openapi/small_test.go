package openapi

import (
	"strings"
	"testing"
)

// What is nested is counted outside of strings, whatever these hold.
func TestDepth(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `1`: 0, `"{[{["`: 0, `{}`: 1, `[]`: 1, `{"a":[{}],"b":{}}`: 3, `[[],[],[]]`: 2,
		`{"a\"{{{":1}`: 1, `{"a\\":{"b":1}}`: 2, `{"\\\"[[":["]]"]}`: 2, `["]",[]]`: 2,
	} {
		if got, _ := Extent([]byte(text)); got != want {
			t.Errorf("%s is %d deep, want %d", text, got, want)
		}
	}
	if got, _ := Extent([]byte(strings.Repeat("[", 50) + strings.Repeat("]", 50))); got != 50 {
		t.Errorf("50 arrays are %d deep", got)
	}
}

// Descriptions of others are the same if they say the same, under one name.
func TestForeignDescriptionsThatAreTheSame(t *testing.T) {
	const fish = `,"Meta":{"type":"object"}`
	one, again, other := readFish(t, fish), readFish(t, fish), readFish(t, `,"Meta":{"type":"object","description":"of a fish"}`)
	if !one.Same(again) || one.Same(other) {
		t.Errorf("the same %t, and others %t", one.Same(again), one.Same(other))
	}
}
