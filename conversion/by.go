package conversion

// By says who converts, for those who audit what came of it. At most one of the fields is
// set, and Digest beside Module.
type By struct {
	// Module is the name of a WasmModule.
	Module string `json:"module,omitempty"`
	// Digest is of the content of the module that serves, "" where none does.
	Digest string `json:"digest,omitempty"`
	// Rules is the name of ConversionRules.
	Rules string `json:"rules,omitempty"`
	// Webhook is the URL of a webhook, or its Service as svc/NAMESPACE/NAME.
	Webhook string `json:"webhook,omitempty"`
}

// Named returns a Bulk that does the same, and says who it is.
func (b *Bulk) Named(by func() By) *Bulk {
	named := *b
	named.by = by
	return &named
}

// By is who converts now; empty for what has no name, like the conversions of built-in kinds.
func (b *Bulk) By() By {
	if b.by == nil {
		return By{}
	}
	return b.by()
}
