package crd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
	kjson "sigs.k8s.io/json"
)

const (
	// UnconvertibleAnnotation of a CustomResourceDefinition says what becomes of lists
	// and watches at a version that some objects do not convert to.
	UnconvertibleAnnotation = "conversion.wasmgate.dev/unconvertible-objects"
	// OmitUnconvertible has them go without these; with anything else they fail.
	OmitUnconvertible = "Omit"
)

// Definition is everything the engine needs to serve one kind of object. It is
// immutable: a changed CustomResourceDefinition compiles to a new Definition.
type Definition struct {
	Group      string
	Plural     string
	Singular   string
	Kind       string
	ListKind   string
	ShortNames []string
	Categories []string
	Namespaced bool

	// Versions are all versions, highest priority first (the order of
	// discovery), also those that are neither served nor written any more:
	// there may be objects that are stored at them.
	Versions []*Version
	// StorageVersion names the version that writes are persisted at.
	StorageVersion string
	// KeyPrefix is where objects live below the store's root, without slashes
	// at the ends: "configmaps", "example.com/crontabs".
	KeyPrefix string
	// Codec is the stored form.
	Codec Codec

	// Conversion is how a custom resource converts; nil means there is nothing
	// to convert.
	Conversion *apiextensionsv1.CustomResourceConversion
	// Convert brings an object, in place, to another version of a built-in kind,
	// whatever version it is at; nil where versions have the same fields, and for
	// custom resources.
	Convert func(obj map[string]any, apiVersion string) error
	// OmitsUnconvertible: lists and watches leave out what does not convert to their
	// version, and name it, in place of failing.
	OmitsUnconvertible bool
	// PreserveUnknownFields keeps fields that no schema has, wherever they are,
	// as definitions from before structural schemas do.
	PreserveUnknownFields bool
	// UID is the uid of the CustomResourceDefinition; empty for built-ins.
	UID types.UID
	// Terminating: the CustomResourceDefinition is being deleted, so nothing
	// can be created.
	Terminating bool
	// TTL is the time after which an object expires by itself; nil or zero
	// means never.
	TTL func(obj map[string]any) time.Duration
	// Hooks are what the kind adds to deletion; nil for none.
	Hooks Hooks
	// Grace is how many seconds the deletion of obj takes, in which whoever acts
	// on it may end its work, if so many are asked for; nil is the object's own
	// time. Without the function deletions take none.
	Grace func(obj map[string]any, asked *int64) int64
	// OwnsNothing: objects have no dependents, whatever these say, so that no
	// deletion waits for any.
	OwnsNothing bool
	// OrphansByDefault: a deletion that says nothing about dependents leaves them.
	OrphansByDefault bool
	// OrphanWarning is sent with such a deletion; empty means none.
	OrphanWarning string
	// ReturnsDeleted: who deletes an object is told what it was, not only that it
	// is gone.
	ReturnsDeleted bool
	// InForce: a write is answered once this gateway has it in its cache, as what an
	// object says is to be in force for the next request.
	InForce bool
	// CreateOnUpdate: a PUT creates an object that is not there.
	CreateOnUpdate bool
	// ConditionalUpdate: an update has to say which resourceVersion it is of.
	ConditionalUpdate bool
	// Verbs limits what is served; nil means all of create, get, list, watch,
	// update, patch, delete, deletecollection.
	Verbs []string
}

// Version is one version of a kind.
type Version struct {
	// Name is unique in the kind: v1, or GROUP/v1 of a version that another group
	// serves, by which the same objects can be had, as events can by events.k8s.io.
	// It is resolved by the definition: [Definition.GVK], [Definition.At].
	Name       string
	Served     bool
	Deprecated bool
	// Warning is sent with every reply at a deprecated version.
	Warning string
	// RemovedRelease is the release of Kubernetes that no longer serves a
	// deprecated version, such as "1.37"; empty when that is not decided.
	RemovedRelease string

	// Shape makes objects of this version well-formed.
	Shape Shape
	// Unchanged tells that data is a whole object that Shape.FromConversion
	// would not change, as canonical JSON. It may say no of one that is; nil
	// says no of all.
	Unchanged func(data []byte) bool
	// Strategy validates and prepares writes of the whole object.
	Strategy Strategy
	// Subresources are status and the like, by name.
	Subresources map[string]*Subresource
	// Table prints objects for kubectl get.
	Table rest.TableConvertor
	// RowOrder compares objects for the order of rows in the table of a collection; nil
	// leaves them in that of the collection.
	RowOrder func(a, b map[string]any) int
	// SelectableFields are the field selector keys besides metadata.name and
	// metadata.namespace.
	SelectableFields []string
	// Fields returns the values of SelectableFields of an object at this
	// version; nil when there are none.
	Fields func(obj map[string]any) fields.Set
	// Schema is the OpenAPI schema of the whole object (with apiVersion, kind
	// and metadata left out, as in a CustomResourceDefinition). It is made when
	// it is first asked for, and shared; nil, as a function and as its outcome,
	// means that it is unknown, or kept as SchemaText only.
	Schema func() *apiextensionsv1.JSONSchemaProps
	// Recursive is Schema of a kind that contains itself, with references ($ref)
	// to the id of an enclosing schema where Schema leaves open what there may
	// be; nil of all others.
	Recursive func() *apiextensionsv1.JSONSchemaProps
	// SchemaText is the schema as JSON, which takes a fraction of the memory;
	// empty when there is none, or when Schema is set. It is never changed.
	SchemaText []byte
	// Typed returns a new pointer to the Go type of this version, which
	// carries strategic merge patch metadata; nil for custom resources, which
	// refuse strategic merge patches.
	Typed func() runtime.Object
}

// Question tells that objects are answered and kept nowhere: there is nothing to
// do with them but to create them.
func (d *Definition) Question() bool { return slices.Equal(d.Verbs, []string{"create"}) }

// Native tells that this version has a Go type, as the kinds of Kubernetes
// itself do: it takes strategic merge patches and protobuf, and a body that
// leaves out apiVersion and kind. All other kinds are treated as custom
// resources are.
func (v *Version) Native() bool { return v.Typed != nil }

// OpenAPISchema is the schema of the whole object, nil when it is unknown or
// cannot be read. It must not be changed. A schema that is kept as text is read
// on every call.
func (v *Version) OpenAPISchema() *apiextensionsv1.JSONSchemaProps {
	if v.Schema != nil {
		return v.Schema()
	}
	if len(v.SchemaText) == 0 {
		return nil
	}
	s, err := ReadSchema(v.SchemaText)
	if err != nil {
		return nil
	}
	return s
}

// ReadSchema decodes a schema, as it is in a CustomResourceDefinition.
func ReadSchema(text []byte) (*apiextensionsv1.JSONSchemaProps, error) {
	out := &apiextensionsv1.JSONSchemaProps{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, out); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return out, nil
}

// Shape makes objects of one version well-formed. The methods change obj in
// place; obj has apiVersion and kind set. Shapes are safe for concurrent use.
type Shape interface {
	// FromClient prunes, coerces and then defaults an object that a client
	// sent. With strict it also returns the paths of the fields it dropped, in
	// Kubernetes' wording: unknown field "spec.x". An error means that the
	// object cannot be read as one of this kind at all.
	FromClient(obj map[string]any, strict bool) (unknown []string, err error)
	// FromStorage does the same with a stored object, and drops metadata that
	// it cannot read instead of failing.
	FromStorage(obj map[string]any) error
	// Canonical tells that neither FromStorage nor FromClient nor FromMerge would
	// change obj, which may lack its resourceVersion, or have anything to say of it. It
	// may say no of one that they would not change, and leaves obj as it is.
	Canonical(obj map[string]any) bool
	// FromMerge completes an object that was merged by the schema, and so has
	// no field that the schema lacks: it coerces metadata and defaults.
	FromMerge(obj map[string]any) error
	// FromConversion prunes and coerces what a converter made; it defaults
	// nothing.
	FromConversion(obj map[string]any) error
}

// PartShape is the Shape of objects that can hold nulls.
type PartShape interface {
	// FromPart does what FromConversion does with what a converter made of a part
	// of an object. What is null stays: it is a place that was emptied. Metadata of
	// embedded resources stay as they are: they are validated where they are written.
	FromPart(obj map[string]any) error
}

// Codec is the stored form of an object.
type Codec interface {
	// Decode reads stored bytes into a fresh tree of map[string]any, []any,
	// string, bool, int64, float64 and nil; metadata.managedFields may be an
	// object.Managed. Stored bytes identify themselves:
	// every codec reads every form it may meet.
	Decode(stored []byte) (map[string]any, error)
	// Encode writes a tree at the storage version. The same tree always gives
	// the same bytes.
	Encode(obj map[string]any) ([]byte, error)
}

// TextCodec is a Codec whose stored form is made of JSON.
type TextCodec interface {
	Codec
	// EncodeText is Encode of a tree whose canonical JSON, as object.Encode
	// writes it, is text. It may keep text and append to it.
	EncodeText(text []byte) []byte
}

// KeepingCodec is a Codec that knows of objects that they come back as they are.
type KeepingCodec interface {
	Codec
	// Keeps tells that Decode makes of what Encode makes of a tree that tree again. It
	// may say no where it does, and leaves the tree as it is.
	Keeps(obj map[string]any) bool
}

// Version returns the version of that name, or nil.
func (d *Definition) Version(name string) *Version {
	for _, v := range d.Versions {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// GroupResource is the definition's group and plural.
func (d *Definition) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: d.Group, Resource: d.Plural}
}

// GroupKind is the definition's group and kind.
func (d *Definition) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: d.Group, Kind: d.Kind}
}

// GVK is the group, version and kind of objects at a version.
func (d *Definition) GVK(version string) schema.GroupVersionKind {
	group := d.Group
	if of, name, qualified := strings.Cut(version, "/"); qualified {
		group, version = of, name
	}
	return schema.GroupVersionKind{Group: group, Version: version, Kind: d.Kind}
}

// GVR is the resource at a version, as requests name it.
func (d *Definition) GVR(version string) schema.GroupVersionResource {
	gv := d.GVK(version).GroupVersion()
	return gv.WithResource(d.Plural)
}

// APIVersion is the apiVersion field of objects at a version.
func (d *Definition) APIVersion(version string) string {
	if d.Group == "" || strings.Contains(version, "/") {
		return version
	}
	return d.Group + "/" + version
}

// At is the version whose objects have an apiVersion, or nil.
func (d *Definition) At(apiVersion string) *Version {
	group, version, named := strings.Cut(apiVersion, "/")
	switch {
	case !named:
		return d.In("", apiVersion)
	case group == "":
		return nil
	}
	return d.In(group, version)
}

// In is the version that a group serves under a name, or nil. Every request asks
// for it.
func (d *Definition) In(group, version string) *Version {
	for _, v := range d.Versions {
		if at := d.GVK(v.Name); at.Group == group && at.Version == version {
			return v
		}
	}
	return nil
}

// Groups are those that serve the kind: its own, and those of other versions.
func (d *Definition) Groups() []string {
	out := []string{d.Group}
	for _, v := range d.Versions {
		if group := d.GVK(v.Name).Group; !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	return out
}

// Is tells whether the kind is served under a group and a plural.
func (d *Definition) Is(gr schema.GroupResource) bool {
	return d.Plural == gr.Resource && slices.Contains(d.Groups(), gr.Group)
}

// allVerbs is sorted, as discovery prints it.
var allVerbs = metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// ServedVerbs are the verbs of the whole resource.
func (d *Definition) ServedVerbs() metav1.Verbs {
	if d.Verbs != nil {
		return d.Verbs
	}
	return allVerbs
}

// Kept tells whether there are objects of the kind that last: of a question only
// the answer is made, and of a report what is so at the moment.
func (d *Definition) Kept() bool {
	verbs := d.ServedVerbs()
	return slices.Contains(verbs, "create") && slices.Contains(verbs, "get")
}

// Objects are what a hook can look up. Errors are the API's status errors; objects
// that are returned belong to the caller.
type Objects interface {
	// List reads all objects of a kind ("" = in all namespaces) at their storage
	// version, from the cache.
	List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error)
	// Fresh waits until the cache holds everything that was committed before the
	// call.
	Fresh(ctx context.Context) error
}

// Hooks lets the package that owns a kind act around the engine's verbs
// without the engine knowing the kind.
type Hooks interface {
	// BeforeDelete may refuse a deletion, or prepare obj for it, which it
	// changes in place: finalizers, a phase. It is called again when an object
	// that is being deleted is deleted once more.
	// there is what else there is. Of a collection a [Kept] stays.
	BeforeDelete(ctx context.Context, there Objects, obj map[string]any) error
	// StillFinalizing tells that obj, which is being deleted and has no
	// metadata.finalizers left, must not be removed yet, because the kind has
	// finalizers of its own (a Namespace's spec.finalizers). It does not change
	// obj.
	StillFinalizing(obj map[string]any) bool
}
