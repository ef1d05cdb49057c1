package managedfields

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// Reasons why managedFields cannot be used.
var (
	errNotEntries = errors.New("managedFields must be a list of objects")
	errEntryType  = errors.New("a field of a managedFields entry is of the wrong type")
	errOperation  = errors.New("operation must be `Apply` or `Update`")
	errVersion    = errors.New("apiVersion must not be empty")
)

// rawEntry is one entry as it is written.
type rawEntry struct {
	manager, operation, version, fieldsType, subresource string

	at     *time.Time
	fields []byte // nil for none
}

func (r *rawEntry) empty() bool {
	return r.manager == "" && r.operation == "" && r.version == "" && r.fieldsType == "" &&
		r.subresource == "" && r.at == nil && r.fields == nil
}

// readManaged reads managedFields, which may be anything at all. They are nil
// for none (and for null), and not nil for an empty list.
//
// Trusted managedFields are known to be JSON.
func readManaged(raw []byte, trusted bool) ([]rawEntry, error) {
	if i := rawjson.Space(raw, 0); i >= len(raw) {
		return nil, nil
	} else if raw[i] == 'n' {
		end, err := rawjson.Skip(raw, i)
		return nil, nothingAfter(raw, end, err)
	}
	w, err := rawjson.Open(raw, 0, trusted)
	if err != nil {
		return nil, err
	}
	if w.IsObject() {
		return nil, errNotEntries
	}
	list := make([]rawEntry, 0, 4)
	for w.Next() {
		list = append(list, rawEntry{})
		end, err := list[len(list)-1].read(raw, w.At(), trusted)
		if err != nil {
			return nil, err
		}
		w.Resume(end)
	}
	return list, nothingAfter(raw, w.End(), w.Err())
}

// nothingAfter is err, or the error of something that follows a value.
func nothingAfter(raw []byte, end int, err error) error {
	if err == nil && rawjson.Space(raw, end) != len(raw) {
		return rawjson.ErrSyntax
	}
	return err
}

func (r *rawEntry) read(raw []byte, i int, trusted bool) (end int, err error) {
	w, err := rawjson.Open(raw, i, trusted)
	if err != nil {
		return 0, err
	}
	if !w.IsObject() {
		return 0, errNotEntries
	}
	for w.Next() {
		field := r.field(w.Key())
		value := w.Value()
		switch {
		case rawjson.IsNull(value):
		case rawjson.Equal(w.Key(), "fieldsV1"):
			r.fields = value
		case rawjson.Equal(w.Key(), "time"):
			if err := r.readTime(value); err != nil {
				return 0, err
			}
		case field != nil:
			text, ok := rawjson.String(value)
			if !ok && value != nil {
				return 0, errEntryType
			}
			*field = text
		}
	}
	return w.End(), w.Err()
}

// field is where the text of a key belongs; nil for other keys.
func (r *rawEntry) field(key []byte) *string {
	switch string(key) {
	case "manager":
		return &r.manager
	case "operation":
		return &r.operation
	case "apiVersion":
		return &r.version
	case "fieldsType":
		return &r.fieldsType
	case "subresource":
		return &r.subresource
	}
	return nil
}

func (r *rawEntry) readTime(value []byte) error {
	text, ok := rawjson.String(value)
	if !ok {
		return errEntryType
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return err
	}
	r.at = &at
	return nil
}

var emptyObject = []byte("{}")

// decode makes entries of raw ones. Of several with one identity the last one
// counts.
func decode(list []rawEntry) (entries, error) {
	out := make(entries, 0, len(list)+1)
	var index map[identity]int
	for i := range list {
		e, err := list[i].decode()
		if err != nil {
			return nil, fmt.Errorf("managedFields entry %d: %w", i, err)
		}
		j := -1
		if len(list) <= 16 {
			j = out.find(e.id)
		} else {
			if index == nil {
				index = make(map[identity]int, len(list))
			}
			if known, ok := index[e.id]; ok {
				j = known
			} else {
				index[e.id] = len(out)
			}
		}
		if j >= 0 {
			out[j] = e
			continue
		}
		out = append(out, e)
	}
	return out, nil
}

func (r *rawEntry) decode() (entry, error) {
	if r.operation != opApply && r.operation != opUpdate {
		return entry{}, errOperation
	}
	if r.version == "" {
		return entry{}, errVersion
	}
	if r.fieldsType != "FieldsV1" {
		return entry{}, fmt.Errorf("invalid fieldsType %q", r.fieldsType)
	}
	raw := r.fields
	if raw == nil {
		raw = emptyObject
	}
	fields, err := sets.decode(raw)
	if err != nil {
		return entry{}, err
	}
	return entry{
		id:      identify(r.manager, r.operation, r.version, r.subresource),
		version: r.version,
		fields:  fields.fieldSet,
		at:      r.at,
		altered: fields.altered,
	}, nil
}

// start are the live entries, and those that a write starts from: those that
// the client sent if they can be used, else the live ones, as far as those can.
// Clients may drop all entries, but not by leaving them out.
func (k *Kind) start(c *Change) (live, managed entries) {
	live, _ = readLive(c.LiveManaged) // what cannot be read is nothing
	if c.Subresource != "" || string(c.NewManaged) == string(c.LiveManaged) {
		return live, slices.Clone(live)
	}
	list, err := readManaged(c.NewManaged, false)
	if err != nil {
		return live, slices.Clone(live)
	}
	if k.resets(c, list) {
		return live, nil
	}
	managed, err = decode(list)
	if err != nil || len(managed) == 0 {
		return live, slices.Clone(live)
	}
	return live, managed
}

// resets tells that a client wants all entries dropped, which a list of one
// empty entry says. An empty list says it too, but of custom resources
// kube-apiserver drops it before it looks.
func (k *Kind) resets(c *Change, list []rawEntry) bool {
	if len(list) == 1 {
		return list[0].empty()
	}
	v := k.def.Version(c.Version)
	return list != nil && len(list) == 0 && v != nil && v.Native()
}

// readLive reads what is stored.
func readLive(raw []byte) (entries, error) {
	list, err := readManaged(raw, true)
	if err != nil {
		return nil, err
	}
	return decode(list)
}
