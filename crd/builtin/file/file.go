package file

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/plan"
)

// File is a kind as data: the spec of a CustomResourceDefinition, whose schema
// is derived from the Go type and here only added to. docs/kinds.md explains
// it to those who write one.
type File struct {
	Group    string                                        `json:"group,omitempty"`
	Names    apiextensionsv1.CustomResourceDefinitionNames `json:"names"`
	Scope    apiextensionsv1.ResourceScope                 `json:"scope"`
	Versions []Version                                     `json:"versions"`

	// Stored is the key prefix, when it is not the plural.
	Stored string `json:"stored,omitempty"`
	// StoredAs is the version that stored objects name, when it is not the
	// storage version.
	StoredAs string `json:"storedAs,omitempty"`
	// Alike are versions, not served here, whose protobuf has the same layout: of the
	// group, or of another that the kind was in.
	Alike []string `json:"alike,omitempty"`
	// Name is the format that names have.
	Name NameRule `json:"name,omitempty"`
	// NewName is the format that names of new objects have where those that are there may
	// have others: of an update no name is judged then, as of a kind whose names
	// kube-apiserver once judged less strictly.
	NewName NameRule `json:"newName,omitempty"`
	// LenientMetadata allows finalizers that are not qualified, and checks of the
	// metadata of an update only what changed: kube-apiserver does so with few
	// kinds.
	LenientMetadata bool `json:"lenientMetadata,omitempty"`
	// Generation are the paths whose change the generation counts;
	// without any the kind has none.
	Generation []string `json:"generation,omitempty"`
	// LateGeneration has it counted from the first change on: a new object has none.
	LateGeneration bool `json:"lateGeneration,omitempty"`
	// Verbs are those served, when not all are.
	Verbs []string `json:"verbs,omitempty"`
	// ChangesFirst tells of changes that are refused before what else is wrong, as
	// kube-apiserver does with few kinds.
	ChangesFirst bool `json:"changesFirst,omitempty"`
	// OrphansByDefault leaves dependents when a deletion says nothing about them,
	// and OrphanWarning tells the client so.
	OrphansByDefault bool   `json:"orphansByDefault,omitempty"`
	OrphanWarning    string `json:"orphanWarning,omitempty"`
	// ReturnsDeleted tells who deletes an object what it was.
	ReturnsDeleted bool `json:"returnsDeleted,omitempty"`
	// Expires is of objects that are kept as long as the options of built-in kinds say, and OwnsNothing
	// of a kind whose objects are never owners.
	Expires     bool `json:"expires,omitempty"`
	OwnsNothing bool `json:"ownsNothing,omitempty"`
	// CreateOnUpdate lets a PUT create.
	CreateOnUpdate bool `json:"createOnUpdate,omitempty"`
	// ConditionalUpdate refuses updates without a resourceVersion.
	ConditionalUpdate bool `json:"conditionalUpdate,omitempty"`
	// Essential kinds are served with --api=crd, too, and cannot be turned off.
	Essential bool `json:"essential,omitempty"`
	// Needs are the plurals of kinds without which this one cannot be served.
	Needs []string `json:"needs,omitempty"`

	// Text is what was read.
	Text []byte `json:"-"`
}

// Question tells of a kind whose objects are answered and kept nowhere, so that
// they can only be created. kube-apiserver judges nothing of their metadata but
// what the kind says.
func (f *File) Question() bool { return slices.Equal(f.Verbs, []string{"create"}) }

// IsServed reports whether any of the versions is.
func (f *File) IsServed() bool {
	return slices.ContainsFunc(f.Versions, func(v Version) bool { return v.Served })
}

// GVK is that of objects at a version, which may be another group's way to them.
func (f *File) GVK(version string) schema.GroupVersionKind {
	d := crd.Definition{Group: f.Group, Kind: f.Names.Kind}
	return d.GVK(version)
}

// Version is the one of a name, which is there.
func (f *File) Version(name string) *Version {
	return &f.Versions[slices.IndexFunc(f.Versions, func(v Version) bool { return v.Name == name })]
}

// Version is one version of a kind.
type Version struct {
	Name string `json:"name"`
	// Served: it is, unless a a choice of versions says otherwise.
	Served  bool `json:"served"`
	Storage bool `json:"storage"`
	// Like names a version before this one from which all else is taken but
	// Selectable fields, if this one has some. Where this one has other fields, it is the storage version, and there is a layout.
	Like string `json:"like,omitempty"`

	// Schema is that of a kind that has no Go type, which is then as a custom
	// resource is: its file is the spec of a CustomResourceDefinition.
	Schema *apiextensionsv1.CustomResourceValidation `json:"schema,omitempty"`
	// Fields are what is added to the Go type, by path.
	Fields plan.Additions `json:"fields,omitempty"`
	// OnCreate and OnUpdate make fields at the top or one below what they are
	// told, whatever the client sent: OnCreate by value (null takes the field
	// away), Kept are those that an update leaves as they are.
	OnCreate map[string]any `json:"onCreate,omitempty"`
	Kept     []string       `json:"kept,omitempty"`
	// Gated are the paths of fields behind gates that are off: they are dropped,
	// unless the object has them already.
	Gated []string `json:"gated,omitempty"`

	AdditionalPrinterColumns []Column                `json:"additionalPrinterColumns,omitempty"`
	SelectableFields         []Selectable            `json:"selectableFields,omitempty"`
	Subresources             map[string]*Subresource `json:"subresources,omitempty"`
}

// Column is a printer column, read by a JSON path or a CEL expression.
type Column struct {
	apiextensionsv1.CustomResourceColumnDefinition `json:",inline"`
	// Expression is CEL over the object, for what no JSON path can say.
	Expression string `json:"expression,omitempty"`
	// Function names a function in Go, for what no expression can say.
	Function string `json:"function,omitempty"`
}

// Selectable is a field that field selectors may name.
type Selectable struct {
	apiextensionsv1.SelectableField `json:",inline"`
	// Name is the field's name in selectors, when it is not the path.
	Name string `json:"name,omitempty"`
	// Expression is CEL over the object, in place of the path, and Function names a
	// function in Go.
	Expression string `json:"expression,omitempty"`
	Function   string `json:"function,omitempty"`
}

// Subresource is a part of the object with a path of its own.
type Subresource struct {
	// Verbs are get, patch and update unless it says otherwise.
	Verbs []string `json:"verbs,omitempty"`
	// Writes are the fields at the top that a write changes, besides metadata;
	// all others stay.
	Writes []string `json:"writes,omitempty"`
	// KeptMetadata are the fields of metadata that stay, too.
	KeptMetadata []string `json:"keptMetadata,omitempty"`
	// Resets are the paths that a write owns nothing of, besides the fields at the
	// top that stay. What is kept may be owned all the same, as in kube-apiserver.
	Resets []string `json:"resets,omitempty"`
	// LenientMetadata allows finalizers that are not qualified.
	LenientMetadata bool `json:"lenientMetadata,omitempty"`
	// Kind is the kind of the body, when it is not the object.
	Kind schema.GroupVersionKind `json:"kind,omitzero"`
	// Scale makes it a scale.
	Scale *apiextensionsv1.CustomResourceSubresourceScale `json:"scale,omitempty"`
}

// Read reads a file, and fills in what follows from the rest of it.
func Read(data []byte) (*File, error) {
	f := &File{Text: data}
	if err := yaml.UnmarshalStrict(data, f); err != nil {
		return nil, err
	}
	if f.Names.Plural == "" || f.Names.Kind == "" || len(f.Versions) == 0 {
		return nil, fmt.Errorf("a kind has a kind, a plural and versions")
	}
	for i, v := range f.Versions {
		if v.Like == "" {
			continue
		}
		n := slices.IndexFunc(f.Versions[:i], func(other Version) bool { return other.Name == v.Like })
		if n < 0 {
			return nil, fmt.Errorf("version %s is like %s, which is not there", v.Name, v.Like)
		}
		f.Versions[i] = f.Versions[n]
		if v.SelectableFields != nil { // which may be of other names
			f.Versions[i].SelectableFields = v.SelectableFields
		}
		f.Versions[i].Name, f.Versions[i].Served, f.Versions[i].Storage, f.Versions[i].Like = v.Name, v.Served, v.Storage, v.Like
	}
	if f.Names.Singular == "" {
		f.Names.Singular = strings.ToLower(f.Names.Kind)
	}
	if f.Names.ListKind == "" {
		f.Names.ListKind = f.Names.Kind + "List"
	}
	if f.Stored == "" {
		f.Stored = f.Names.Plural
	}
	return f, nil
}
