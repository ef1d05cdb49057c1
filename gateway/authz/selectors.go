package authz

import (
	"errors"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Selectors are what a list, a watch or a deletion of a collection is narrowed to.
// The zero value is none: everything is meant. Whoever cannot be read is left out
// and told as an error: what is left selects more, which is the harder question.
type Selectors struct {
	Fields    fields.Requirements
	FieldsErr error
	Labels    labels.Requirements
	LabelsErr error
}

// UnreadSelectors are selectors as a request has them; "" is none.
type UnreadSelectors struct{ Fields, Labels string }

// Narrowed are the selectors, read.
func (a *Attributes) Narrowed() Selectors {
	if a.Unread == (UnreadSelectors{}) {
		return a.Selectors
	}
	return ParseSelectors(a.Unread.Fields, a.Unread.Labels)
}

// ParseSelectors reads selectors in the form that requests have them in; "" is
// none.
func ParseSelectors(field, label string) (s Selectors) {
	if field != "" {
		parsed, err := fields.ParseSelector(field)
		if s.FieldsErr = err; err == nil {
			s.Fields = parsed.Requirements()
		}
	}
	if label != "" {
		parsed, err := labels.Parse(label)
		if s.LabelsErr = err; err == nil {
			s.Labels, _ = parsed.Requirements()
		}
	}
	return s
}

// ReviewSelectors are those of a question about access; nil for none.
func ReviewSelectors(f *authorizationv1.FieldSelectorAttributes, l *authorizationv1.LabelSelectorAttributes) (s Selectors) {
	if f != nil {
		s = ParseSelectors(f.RawSelector, "")
		if len(f.Requirements) > 0 {
			s.Fields, s.FieldsErr = fieldRequirements(f.Requirements)
		}
	}
	if l != nil {
		parsed := ParseSelectors("", l.RawSelector)
		s.Labels, s.LabelsErr = parsed.Labels, parsed.LabelsErr
		if len(l.Requirements) > 0 {
			s.Labels, s.LabelsErr = labelRequirements(l.Requirements)
		}
	}
	return s
}

// fieldOperators are those of fields, of one value each.
var fieldOperators = map[metav1.FieldSelectorOperator]selection.Operator{
	metav1.FieldSelectorOpIn: selection.Equals, metav1.FieldSelectorOpNotIn: selection.NotEquals,
}

func fieldRequirements(all []metav1.FieldSelectorRequirement) (out fields.Requirements, err error) {
	for _, one := range all {
		op, known := fieldOperators[one.Operator]
		switch {
		case !known:
			err = errors.Join(err, fmt.Errorf("%q is not an operator that selects by a field here", one.Operator))
		case len(one.Values) != 1:
			err = errors.Join(err, fmt.Errorf("field %s: %s takes one value", one.Key, one.Operator))
		default:
			out = append(out, fields.Requirement{Field: one.Key, Operator: op, Value: one.Values[0]})
		}
	}
	return out, err
}

var labelOperators = map[metav1.LabelSelectorOperator]selection.Operator{
	metav1.LabelSelectorOpIn: selection.In, metav1.LabelSelectorOpNotIn: selection.NotIn,
	metav1.LabelSelectorOpExists: selection.Exists, metav1.LabelSelectorOpDoesNotExist: selection.DoesNotExist,
}

func labelRequirements(all []metav1.LabelSelectorRequirement) (out labels.Requirements, err error) {
	for _, one := range all {
		r, wrong := labels.NewRequirement(one.Key, labelOperators[one.Operator], one.Values)
		if wrong != nil {
			err = errors.Join(err, wrong)
			continue
		}
		out = append(out, *r)
	}
	return out, err
}
