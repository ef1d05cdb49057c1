package quantity

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wasmgate/wasmgate/crd/wire"
)

// CheckMessage is [CheckTree] of a protobuf message, for whoever reads that into a value
// of type t. What looks into types that have quantities refuses what is no message.
func CheckMessage(message []byte, t reflect.Type) error { return messageOf(t).check(message) }

// fields are the fields of a message in which quantities are, by their numbers; nil is
// for nowhere.
type fields struct {
	self    bool
	numbers map[int]*fields
}

func (f *fields) check(message []byte) error {
	if f == nil {
		return nil
	}
	return wire.EachValue(message, func(number int, value []byte) error {
		if f.self && number == 1 {
			return Check(string(value))
		}
		return f.numbers[number].check(value)
	})
}

var messages sync.Map // of *fields, by reflect.Type

func messageOf(t reflect.Type) *fields {
	if f, ok := messages.Load(t); ok {
		return f.(*fields)
	}
	f := findFields(t, map[reflect.Type]*fields{})
	messages.Store(t, f)
	return f
}

// findFields looks where messages of t have quantities, as [find] does. What repeats is
// as if it did not.
func findFields(t reflect.Type, within map[reflect.Type]*fields) *fields {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		return &fields{self: true}
	case t.Kind() == reflect.Map: // of messages with a key and a value
		if value := findFields(t.Elem(), within); value != nil {
			return &fields{numbers: map[int]*fields{2: value}}
		}
		return nil
	case t.Kind() != reflect.Struct:
		return nil
	}
	if outer, ok := within[t]; ok {
		return outer
	}
	f := &fields{numbers: map[int]*fields{}}
	within[t] = f
	defer delete(within, t)
	for i := range t.NumField() {
		if number := numberOf(t.Field(i)); number > 0 {
			if at := findFields(t.Field(i).Type, within); at != nil {
				f.numbers[number] = at
			}
		}
	}
	if len(f.numbers) == 0 {
		return nil
	}
	return f
}

// numberOf is the number of a field of a message; 0 of what is in none.
func numberOf(f reflect.StructField) int {
	_, rest, _ := strings.Cut(f.Tag.Get("protobuf"), ",")
	number, _, _ := strings.Cut(rest, ",")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n
}
