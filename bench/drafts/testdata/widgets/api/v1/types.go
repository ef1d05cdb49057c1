// Package v1 has a kind as it is.
package v1

// Widget is converted to and from.
type Widget struct {
	APIVersion string            `json:"apiVersion,omitempty"`
	Kind       string            `json:"kind,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Spec       Spec              `json:"spec,omitempty"`
}

// Spec is what is wanted.
type Spec struct {
	Replicas       int      `json:"replicas,omitempty"`
	TimeoutSeconds int      `json:"timeoutSeconds,omitempty"`
	Policy         string   `json:"policy,omitempty"`
	Same           string   `json:"same,omitempty"`
	Storage        *Storage `json:"storage,omitempty"`
	Tricky         string   `json:"tricky,omitempty"`
	Elsewhere      bool     `json:"elsewhere,omitempty"`
	List           []Item   `json:"list,omitempty"`
}

// Storage is where data are.
type Storage struct {
	ClassName string `json:"className,omitempty"`
	Size      string `json:"size,omitempty"`
}

// Item is one of several.
type Item struct {
	Name string `json:"name,omitempty"`
	Path string `json:"path,omitempty"`
}

// Hub marks the version that others convert to.
func (*Widget) Hub() {}
