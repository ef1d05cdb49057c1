package authz

import (
	"fmt"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// told are selectors in words.
func told(s Selectors) string {
	var parts []string
	for _, r := range s.Fields {
		parts = append(parts, fmt.Sprintf("%s%s%s", r.Field, r.Operator, r.Value))
	}
	for _, r := range s.Labels {
		parts = append(parts, r.String())
	}
	for what, err := range map[string]error{"fields": s.FieldsErr, "labels": s.LabelsErr} {
		if err != nil {
			parts = append(parts, what+" unread")
		}
	}
	return strings.Join(parts, "; ")
}

func TestSelectorsAreRead_CEL14(t *testing.T) {
	for _, c := range []struct{ field, label, want string }{
		{"", "", ""},
		{"a=b,c!=d", "", "a=b; c!=d"},
		{"", "a in (b,c),!d", "a in (b,c); !d"},
		{"a=b", "c", "a=b; c"},
		{"a", "b", "b; fields unread"},
		{"a=b", "=", "a=b; labels unread"},
	} {
		if got := told(ParseSelectors(c.field, c.label)); got != c.want {
			t.Errorf("%q %q: %q, want %q", c.field, c.label, got, c.want)
		}
	}
}

// What cannot be read is left out, as it asks for more, and it is told that it is.
func TestSelectorsOfReviewsAreRead_CEL14(t *testing.T) {
	type (
		fields = authorizationv1.FieldSelectorAttributes
		labels = authorizationv1.LabelSelectorAttributes
	)
	field := func(key string, op metav1.FieldSelectorOperator, values ...string) metav1.FieldSelectorRequirement {
		return metav1.FieldSelectorRequirement{Key: key, Operator: op, Values: values}
	}
	label := func(key string, op metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
		return metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: values}
	}
	for _, c := range []struct {
		f    *fields
		l    *labels
		want string
	}{
		{nil, nil, ""},
		{&fields{RawSelector: "a=b"}, &labels{RawSelector: "c"}, "a=b; c"},
		{&fields{RawSelector: "a"}, &labels{RawSelector: "b"}, "b; fields unread"},
		{&fields{Requirements: []metav1.FieldSelectorRequirement{field("a", "In", "b"), field("c", "NotIn", "d")}}, nil, "a=b; c!=d"},
		{&fields{Requirements: []metav1.FieldSelectorRequirement{field("a", "In", "b"), field("c", "In", "d", "e"), field("f", "Exists"), field("g", "In")}}, nil, "a=b; fields unread"},
		{nil, &labels{Requirements: []metav1.LabelSelectorRequirement{label("a", "In", "b", "c"), label("d", "NotIn", "e"), label("f", "Exists"), label("g", "DoesNotExist")}}, "a in (b,c); d notin (e); f; !g"},
		{nil, &labels{Requirements: []metav1.LabelSelectorRequirement{label("a", "Odd"), label("b", "Exists"), label("c", "In")}}, "b; labels unread"},
	} {
		if got := told(ReviewSelectors(c.f, c.l)); got != c.want {
			t.Errorf("%+v %+v: %q, want %q", c.f, c.l, got, c.want)
		}
	}
}

// Selectors of a request are read for who asks.
func TestSelectorsOfRequestsAreReadForWhoAsks(t *testing.T) {
	for want, a := range map[string]Attributes{
		"":                   {},
		"a=b":                {Selectors: ParseSelectors("a=b", "")},
		"c=d; e":             {Unread: UnreadSelectors{Fields: "c=d", Labels: "e"}},
		"e; fields unread":   {Unread: UnreadSelectors{Fields: "c", Labels: "e"}},
		"c=d; labels unread": {Unread: UnreadSelectors{Fields: "c=d", Labels: "="}},
	} {
		if got := told(a.Narrowed()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
