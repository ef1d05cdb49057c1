package managedfields

import (
	"cmp"
	"slices"
	"time"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Operations of entries.
const (
	opApply  = "Apply"
	opUpdate = "Update"
)

// identity is who an entry is about. An applier is the same at whatever
// version it applies, so its version is empty here.
type identity struct {
	manager     string
	operation   string
	version     string
	subresource string
}

// identify is the identity of a manager's entry.
func identify(manager, operation, version, subresource string) identity {
	if operation == opApply {
		version = ""
	}
	return identity{manager: manager, operation: operation, version: version, subresource: subresource}
}

func (id identity) is(other identity) bool { return id == other }

// text is the identity as structured-merge-diff orders identities.
func (id identity) text() string {
	b := append([]byte(nil), '{')
	member := func(name, value string) {
		if value == "" {
			return
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), name...), `":`...)
		b = object.AppendString(b, value)
	}
	member("manager", id.manager)
	member("operation", id.operation)
	member("apiVersion", id.version)
	member("subresource", id.subresource)
	return string(append(b, '}'))
}

// entry is one entry of managedFields, decoded.
type entry struct {
	id identity
	// version is the apiVersion that the fields belong to.
	version string
	fields  *fieldSet
	// at is when; nil for unknown.
	at *time.Time
	// altered: what was read is not what is written again.
	altered bool
}

func (e *entry) applied() bool { return e.id.operation == opApply }

// seconds is the time by which entries are sorted.
func (e *entry) seconds() int64 {
	if e.at == nil {
		return 0
	}
	return e.at.Unix()
}

// entries are all managedFields of an object, each identity once.
type entries []entry

func (es entries) find(id identity) int {
	return slices.IndexFunc(es, func(e entry) bool { return e.id == id })
}

// set puts the entry of an identity in place, or adds it.
func (es entries) set(e entry) entries {
	if i := es.find(e.id); i >= 0 {
		es[i] = e
		return es
	}
	return append(es, e)
}

// sort puts entries in the order in which they are stored.
func (es entries) sort() {
	slices.SortStableFunc(es, func(a, b entry) int {
		return cmp.Or(
			cmp.Compare(a.id.operation, b.id.operation),
			cmp.Compare(a.seconds(), b.seconds()),
			cmp.Compare(a.id.manager, b.id.manager),
			cmp.Compare(a.version, b.version),
			cmp.Compare(a.id.subresource, b.id.subresource),
		)
	})
}

// sameOwners tells that entries as they will be written differ from those that
// were read in nothing but times.
func sameOwners(read, now entries) bool {
	return slices.EqualFunc(read, now, func(x, y entry) bool {
		return !x.altered && x.id == y.id && x.version == y.version && x.fields.equal(y.fields)
	})
}

// encode is the JSON of entries, which it sorts; nil for none.
func (es entries) encode() []byte {
	if len(es) == 0 {
		return nil
	}
	es.sort()
	size := 2
	for i := range es {
		size += len(es[i].fields.raw) + len(es[i].id.manager) + len(es[i].version) + len(es[i].id.subresource) + 160
	}
	b := append(make([]byte, 0, size), '[')
	for i := range es {
		if i > 0 {
			b = append(b, ',')
		}
		b = es[i].append(b)
	}
	return append(b, ']')
}

// append writes an entry with its members in order, as an object that is kept
// as JSON has them.
func (e *entry) append(b []byte) []byte {
	b = object.AppendString(append(b, `{"apiVersion":`...), e.version)
	b = append(b, `,"fieldsType":"FieldsV1","fieldsV1":`...)
	b = append(b, e.fields.raw...)
	if e.id.manager != "" {
		b = object.AppendString(append(b, `,"manager":`...), e.id.manager)
	}
	b = append(append(append(b, `,"operation":"`...), e.id.operation...), '"')
	if e.id.subresource != "" {
		b = object.AppendString(append(b, `,"subresource":`...), e.id.subresource)
	}
	if e.at != nil {
		b = appendTime(append(b, `,"time":`...), *e.at)
	}
	return append(b, '}')
}

func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	b = append(b, '"')
	return append(t.UTC().AppendFormat(b, time.RFC3339), '"')
}
