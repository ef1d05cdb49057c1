package dyn

import "testing"

// What a selector selects; none selects nothing, and one that is none is not
// judged here.
func TestSelects(t *testing.T) {
	labels := map[string]any{"app": "web", "tier": "front"}
	for text, want := range map[string]bool{
		"selects({'matchLabels': {'app': 'web'}}, self)":                                                                    true,
		"selects({'matchLabels': {'app': 'db'}}, self)":                                                                     false,
		"selects({'matchLabels': {'app': 'web', 'tier': 'back'}}, self)":                                                    false,
		"selects({'matchExpressions': [{'key': 'app', 'operator': 'In', 'values': ['db', 'web']}]}, self)":                  true,
		"selects({'matchExpressions': [{'key': 'app', 'operator': 'NotIn', 'values': ['db', 'web']}]}, self)":               false,
		"selects({'matchExpressions': [{'key': 'none', 'operator': 'DoesNotExist'}]}, self)":                                true,
		"selects({'matchLabels': {'app': 'web'}, 'matchExpressions': [{'key': 'tier', 'operator': 'DoesNotExist'}]}, self)": false,
		"selects({}, self)":   true,
		"selects(null, self)": false,
		"selects({'matchExpressions': [{'key': 'app', 'operator': 'Odd'}]}, self)": true,
		"selects({'matchLabels': 'text'}, self)":                                   true,
	} {
		if got, err := New(text).True(Variables{Self: labels}); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
