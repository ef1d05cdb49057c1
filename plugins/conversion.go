package plugins

// Conversion is what a module says that it converts: objects of a kind from one
// version to another.
type Conversion struct {
	// Kind is the kind, "" for all kinds that no other conversion of the module
	// names.
	Kind string `json:"kind,omitempty"`
	// From and To are versions without a group.
	From string `json:"from"`
	To   string `json:"to"`
}

// String is the conversion as people write it.
func (c Conversion) String() string {
	text := c.From + " to " + c.To
	if c.Kind != "" {
		text = c.Kind + " " + text
	}
	return text
}

// Lacking are those of the conversions needed, each of a kind, that a module does
// not name, in their order; none of a module that names nothing.
func Lacking(named, needed []Conversion) (lacking []Conversion) {
	if named == nil {
		return nil
	}
	has, kinds := map[Conversion]bool{}, map[string]bool{}
	for _, c := range named {
		has[c], kinds[c.Kind] = true, true
	}
	for _, need := range needed {
		c := need
		if !kinds[c.Kind] {
			c.Kind = ""
		}
		if !has[c] {
			lacking = append(lacking, need)
		}
	}
	return lacking
}
