package schema

import (
	_ "embed"
	"slices"
	"sync"

	"sigs.k8s.io/yaml"
)

//go:embed marked.yaml
var markedText []byte

// marks are what comments in the source of Kubernetes' types say of them, and neither the
// types nor their tags do. Structs, fields and types are called as by [Name].
type marks struct {
	// Optional are fields that are always written, and need not be sent.
	Optional []string `json:"optional"`
	// Required are fields that are left out when they are empty, and have to be sent.
	Required []string `json:"required"`
	// Atomic are lists that are owned and replaced as a whole, which is so of all of which
	// nothing else is said.
	Atomic []string `json:"atomic"`
	// Enums are the values of types of texts, in order.
	Enums map[string][]string `json:"enums"`
	// Defaults are the values, as JSON, of fields that nobody sent.
	Defaults map[string]string `json:"defaults"`
}

// marked is the file, which a test holds to the source.
var marked = sync.OnceValues(func() (*marks, error) {
	var m marks
	err := yaml.UnmarshalStrict(markedText, &m)
	return &m, err
})

// declared is the name of a field as its own struct declares it.
func (f Field) declared() string { return f.Struct + "." + f.Name }

// required tells that a field has to be sent.
func (m *marks) required(f Field) bool {
	if f.OmitEmpty {
		return contains(m.Required, f.declared())
	}
	return !contains(m.Optional, f.declared())
}

func contains(sorted []string, name string) bool {
	_, ok := slices.BinarySearch(sorted, name)
	return ok
}
