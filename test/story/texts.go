package story

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Texts are a reply as text: as it came, and without what an order says.
type Texts struct{ Ordered, Unordered string }

// markUnordered is in a text that says nothing by its order.
const markUnordered = `"unordered":true`

// Like is the text that is compared with a recorded one.
func (t Texts) Like(recorded string) string {
	if strings.Contains(recorded, markUnordered) {
		return t.Unordered
	}
	return t.Ordered
}

// Merge is the text to record of a reply that was given twice: where only the order
// differs, that of Go's maps, it is one without. It returns an error where more differs.
func (t Texts) Merge(again Texts) (Texts, error) {
	switch {
	case t.Ordered == again.Ordered:
		return t, nil
	case t.Unordered == again.Unordered:
		return Texts{t.Unordered, t.Unordered}, nil
	}
	return t, fmt.Errorf("a second telling is answered otherwise\n%s\n%s", t.Ordered, again.Ordered)
}

// TextsOf are the texts of replies.
func TextsOf(replies []Reply) ([]Texts, error) {
	var all []Texts
	for _, reply := range replies {
		t, err := reply.Texts()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// unordered is the reply with what can be in any order sorted.
func (r Reply) unordered() Reply {
	r.Unordered = true
	r.Warnings = slices.Sorted(slices.Values(r.Warnings))
	if events, ok := r.Body["events"].([]any); ok {
		r.Body = map[string]any{"events": sorted(events)}
	}
	switch status, _ := r.Body["status"].(map[string]any); {
	case r.Body["kind"] == "Status":
		r.Body = unorderedStatus(r.Body)
	case status["resourceRules"] != nil: // of a review, whose rules come from a map
		status = maps.Clone(status)
		for _, list := range []string{"resourceRules", "nonResourceRules"} {
			rules, _ := status[list].([]any)
			status[list] = sorted(rules)
		}
		r.Body = maps.Clone(r.Body)
		r.Body["status"] = status
	}
	return r
}

// sorted are decoded JSON values in the order of their texts.
func sorted(list []any) []any {
	return slices.SortedFunc(slices.Values(list), func(a, b any) int { return strings.Compare(sortable(a), sortable(b)) })
}

// sortable is a decoded JSON value as text.
func sortable(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return string(b)
}

// contributed is said of the rules that are blamed for the costs of a whole
// definition. Which they are depends on the order of a map.
const contributed = "contributed to estimated rule cost total"

// unorderedStatus is a Status with its causes sorted. Of its message remains what it
// says before them, if it says no more than they do.
func unorderedStatus(status map[string]any) map[string]any {
	details, _ := status["details"].(map[string]any)
	list, _ := details["causes"].([]any)
	if len(list) < 2 {
		return status
	}
	message, _ := status["message"].(string)
	rest := message
	var causes []any
	for _, c := range list {
		cause, _ := c.(map[string]any)
		text := fmt.Sprint(cause["field"], ": ", cause["message"])
		rest = strings.Replace(rest, text, "", 1)
		if !strings.Contains(text, contributed) {
			causes = append(causes, cause)
		}
	}
	out := maps.Clone(status)
	out["details"] = maps.Clone(details)
	out["details"].(map[string]any)["causes"] = sorted(causes)
	head, rest, _ := strings.Cut(rest, " is invalid: ")
	if strings.Trim(rest, "[], ") == "" {
		out["message"] = head
	}
	return out
}
