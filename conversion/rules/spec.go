package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Spec is a set of rules as it is written: spec of a ConversionRules object.
type Spec struct {
	// Conversions are steps between versions; longer ways are made of them.
	Conversions []Conversion `json:"conversions"`
	// AcknowledgedLoss are paths of fields whose loss is meant.
	AcknowledgedLoss []string `json:"acknowledgedLoss,omitempty"`
	// Proof says what becomes of rules that lose something; it is up to who serves them.
	Proof string `json:"proof,omitempty"`
}

// Conversion is a step from one version to another, and back.
type Conversion struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Rules []Rule `json:"rules"`
}

// Rule is one operation: exactly one of its fields is set.
type Rule struct {
	Rename    *Rename    `json:"rename,omitempty"`
	Move      *Move      `json:"move,omitempty"`
	Copy      *Move      `json:"copy,omitempty"`
	Remove    *Remove    `json:"remove,omitempty"`
	Split     *Split     `json:"split,omitempty"`
	Join      *Join      `json:"join,omitempty"`
	Regexp    *Regexp    `json:"regexp,omitempty"`
	Map       *Map       `json:"map,omitempty"`
	Default   *Value     `json:"default,omitempty"`
	Constant  *Value     `json:"constant,omitempty"`
	Scale     *Scale     `json:"scale,omitempty"`
	Unit      *Unit      `json:"unit,omitempty"`
	Type      *Type      `json:"type,omitempty"`
	ListToMap *ListToMap `json:"listToMap,omitempty"`
	MapToList *MapToList `json:"mapToList,omitempty"`
	ToList    *Field     `json:"toList,omitempty"`
	FromList  *Field     `json:"fromList,omitempty"`
	Union     *Union     `json:"union,omitempty"`
	Keep      *Keep      `json:"keep,omitempty"`
	Restore   *Keep      `json:"restore,omitempty"`
	CEL       *CEL       `json:"cel,omitempty"`
}

// Field is an operation on one field.
type Field struct {
	Field string `json:"field"`
}

// Rename gives a field, or a key of a map, another name.
type Rename struct {
	Field string `json:"field"`
	To    string `json:"to"`
}

// Move puts a value at another place.
type Move struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Remove drops a field, for good.
type Remove Field

// Split makes fields of the parts of a text. With Last, separators are searched from
// the end.
type Split struct {
	Field     string   `json:"field"`
	Separator string   `json:"separator"`
	Into      []string `json:"into"`
	Last      bool     `json:"last,omitempty"`
}

// Join makes a text of fields.
type Join struct {
	Fields    []string `json:"fields"`
	Separator string   `json:"separator"`
	Into      string   `json:"into"`
	Last      bool     `json:"last,omitempty"`
}

// Replacement replaces what matches a regular expression (RE2).
type Replacement struct {
	Match   string `json:"match"`
	Replace string `json:"replace"`
}

// Regexp rewrites a text, and Back does so on the way back.
type Regexp struct {
	Field string `json:"field"`
	Replacement
	Back *Replacement `json:"back,omitempty"`
}

// Map replaces values by others.
type Map struct {
	Field  string            `json:"field"`
	Values map[string]string `json:"values"`
	// Back tells what becomes of values that several become.
	Back map[string]string `json:"back,omitempty"`
	// Others is what becomes of other values: Keep, the default, or Fail.
	Others string `json:"others,omitempty"`
}

// Value is a field with a value: one that is not there gets it, or all do.
type Value struct {
	Field string          `json:"field"`
	Value json.RawMessage `json:"value"`
}

// Scale multiplies a number.
type Scale struct {
	Field string `json:"field"`
	// By is a number, or a fraction such as 1/1000.
	By string `json:"by"`
	// Round is what becomes of fractions: Down, Up or Nearest; without it they stay.
	Round string `json:"round,omitempty"`
}

// Unit makes a text with a unit of a number: 30 is 30s.
type Unit struct {
	Field string `json:"field"`
	// Kind is Duration or Quantity.
	Kind string `json:"kind"`
	// Unit is what the number counts: s, or Mi.
	Unit string `json:"unit"`
}

// Type makes a value one of another type: string, integer, number or boolean.
type Type struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// ListToMap makes a map of a list of objects, by one of their fields.
type ListToMap struct {
	List string `json:"list"`
	Map  string `json:"map"`
	// Key is the field that becomes the key.
	Key string `json:"key"`
	// Value is the field that becomes the value; without it what is left does.
	Value string `json:"value,omitempty"`
	// Order is an annotation that keeps the order of the list, where it is not that
	// of the keys.
	Order string `json:"order,omitempty"`
}

// MapToList is ListToMap the other way around.
type MapToList ListToMap

// Union takes away the field that names which of several members is there, since
// that is seen, and with Value moves the value to the member that it names.
type Union struct {
	Discriminator string            `json:"discriminator"`
	Members       map[string]string `json:"members"`
	Value         string            `json:"value,omitempty"`
	// Keep is an annotation for a discriminator that the members do not tell.
	Keep string `json:"keep,omitempty"`
}

// Keep puts a field, which the other version does not have, into an annotation.
type Keep struct {
	Field      string `json:"field"`
	Annotation string `json:"annotation,omitempty"`
}

// CEL makes a value by an expression, and Back makes the old one again. Without From,
// self is the object.
type CEL struct {
	From       string `json:"from,omitempty"`
	To         string `json:"to"`
	Expression string `json:"expression"`
	Back       string `json:"back,omitempty"`
}

// Decode reads the JSON of a Spec. Fields that nobody knows are refused.
func Decode(data []byte) (Spec, error) {
	var s Spec
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Spec{}, fmt.Errorf("spec: %w", err)
	}
	return s, nil
}
