package read

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/util/sets"
	shards "k8s.io/apiserver/pkg/sharding"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// selection decides which entries a list, a watch or a deletion is about.
type selection struct {
	resource *catalog.Resource
	version  *crd.Version
	labels   labels.Selector
	fields   fields.Selector
	// shards are the ranges that hashes of objects are in (KEP-5866); nil for all.
	shards sharding.Selector
	// byNamespace tells that the hashes are those of namespaces, and not of uids.
	byNamespace bool
	// name is the only one that fields select, "" for any.
	name string
	// deep tells that fields looks beyond name and namespace, into the object.
	deep bool
	// convertible: only what converts to the version is selected.
	convertible bool
}

func newSelection(t resource.Target, o *internalversion.ListOptions) (*selection, error) {
	s := &selection{resource: t.Resource, version: t.Version}
	if o.LabelSelector != nil && !o.LabelSelector.Empty() {
		s.labels = o.LabelSelector
	}
	if o.FieldSelector != nil && !o.FieldSelector.Empty() {
		s.fields = o.FieldSelector
		s.name, _ = o.FieldSelector.RequiresExactMatch("metadata.name")
		allowed := sets.New("metadata.name")
		if t.Resource.Def.Namespaced || t.Version.Native() {
			allowed.Insert("metadata.namespace")
		}
		selectable := sets.New(t.Version.SelectableFields...)
		for _, req := range o.FieldSelector.Requirements() {
			if selectable.Has(req.Field) {
				s.deep = true
			} else if !allowed.Has(req.Field) {
				return nil, apierrors.NewBadRequest(unknownField(t, req.Field))
			}
		}
	}
	s.convertible = t.Resource.Def.OmitsUnconvertible && (t.Whole || s.deep)
	if o.ShardSelector == "" {
		return s, nil
	}
	var err error
	if s.shards, err = shards.Parse(o.ShardSelector); err != nil {
		return nil, apierrors.NewBadRequest("invalid shard selector: " + err.Error())
	}
	s.byNamespace = s.shards.Requirements()[0].Key == "object.metadata.namespace"
	return s, nil
}

// unknownField words the refusal as kube-apiserver does, which has another
// text for its own kinds that have no fields to select by.
func unknownField(t resource.Target, field string) string {
	if t.Version.Native() && len(t.Version.SelectableFields) == 0 {
		return fmt.Sprintf("%q is not a known field selector: only %q, %q", field, "metadata.name", "metadata.namespace")
	}
	return fmt.Sprintf("field label not supported: %s", field)
}

// empty tells that everything is selected.
func (s *selection) empty() bool {
	return s.labels == nil && s.fields == nil && s.shards == nil && !s.convertible
}

// whole tells that objects have to be at the version before it is known whether they
// are selected.
func (s *selection) whole() bool { return s.deep || s.convertible }

// objects are those of entries at the version, nil for what is not selected as it does
// not convert: failed is told why.
func (s *selection) objects(ctx context.Context, entries []*view.Entry, failed func(n int, why error)) ([]encoding.Object, error) {
	if s.convertible {
		return s.resource.Convertible(ctx, entries, s.version.Name, failed)
	}
	return s.resource.Objects(ctx, nil, entries, encoding.At(s.version.Name))
}

// shallow decides by what is known without the object at the request's
// version: namespace and name, then labels, which count as stored, and its shard.
// What its key rules out is not looked into, as it may be unreadable.
func (s *selection) shallow(key string, e *view.Entry) (bool, error) {
	if s.fields != nil && !s.deep && !s.fields.Matches(newFieldSet(key, nil)) {
		return false, nil
	}
	if s.byNamespace {
		namespace, _ := catalog.SplitKey(key)
		if ok, err := s.sharded(&metav1.ObjectMeta{Namespace: namespace}); err != nil || !ok {
			return false, err
		}
	}
	if s.labels != nil {
		set, err := s.resource.Labels(e)
		if err != nil || !s.labels.Matches(set) {
			return false, err
		}
	}
	if s.shards == nil || s.byNamespace {
		return true, nil
	}
	meta, err := s.resource.Ownership(e)
	if err != nil {
		return false, err
	}
	return s.sharded(meta)
}

// mostInterests is how many values of a label a watcher is woken for. One that selects
// more of them would cost its hub more than looking at what is not for it costs here.
const mostInterests = 64

// interests are what one of has to be true of each object in a namespace, or in all
// of them, that is selected; nil where there is nothing to look for.
func (s *selection) interests(namespace string) []catalog.Interest {
	if s.name != "" {
		return []catalog.Interest{{Namespace: namespace, Name: s.name}}
	}
	if label, values := catalog.Narrowest(s.labels); label != "" && len(values) <= mostInterests {
		out := make([]catalog.Interest, len(values))
		for i, value := range values {
			out[i] = catalog.Interest{Namespace: namespace, Label: label, Value: value}
		}
		return out
	}
	if namespace != "" {
		return []catalog.Interest{{Namespace: namespace}}
	}
	return nil
}

// shardInfo is what a list says of the shard that it is of; nil for all of them.
func (s *selection) shardInfo() *metav1.ShardInfo {
	if s.shards == nil {
		return nil
	}
	return &metav1.ShardInfo{Selector: s.shards.String()}
}

// sharded decides by the hash of the uid or of the namespace.
func (s *selection) sharded(meta *metav1.ObjectMeta) (bool, error) {
	return s.shards.Matches(&metav1.PartialObjectMetadata{ObjectMeta: *meta})
}

// match decides by labels as stored and by fields in the request's version.
func (s *selection) match(ctx context.Context, key string, e *view.Entry) (bool, error) {
	if ok, err := s.shallow(key, e); err != nil || !ok || !s.whole() {
		return ok, err
	}
	objects, err := s.objects(ctx, []*view.Entry{e}, func(int, error) {})
	if err != nil || objects[0] == nil || !s.deep {
		return err == nil && objects[0] != nil, err
	}
	return s.matchFields(key, e, objects[0].Bytes())
}

// matchFields decides by the fields of e, whose object at the request's
// version is data.
func (s *selection) matchFields(key string, e *view.Entry, data []byte) (bool, error) {
	set, err := s.resource.Fields(e, s.version, data)
	if err != nil {
		return false, err
	}
	return s.fields.Matches(newFieldSet(key, set)), nil
}

// fieldSet is what a field selector sees of an object.
type fieldSet struct {
	namespace, name string
	rest            fields.Set
}

func newFieldSet(key string, rest fields.Set) fieldSet {
	f := fieldSet{rest: rest}
	f.namespace, f.name = catalog.SplitKey(key)
	return f
}

// Has implements [fields.Fields].
func (f fieldSet) Has(field string) bool {
	return field == "metadata.name" || field == "metadata.namespace" || f.rest.Has(field)
}

// Get implements [fields.Fields].
func (f fieldSet) Get(field string) string {
	switch field {
	case "metadata.name":
		return f.name
	case "metadata.namespace":
		return f.namespace
	}
	return f.rest.Get(field)
}
