package wire

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// Each list of numbers of each built-in kind is counted where it is one field.
func TestListsOfNumbersAreCounted(t *testing.T) {
	found := map[path]bool{}
	seen := map[any]bool{}
	for gvk, kind := range scheme.Scheme.AllKnownTypes() {
		if !strings.HasSuffix(gvk.Kind, "Options") { // they come in queries
			numbers(kind, path{}, seen, found)
		}
	}
	if len(found) < 6 {
		t.Errorf("only %v were found", found)
	}
	for at := range found {
		data := protowire.AppendBytes(protowire.AppendTag(nil, protowire.Number(at[2]), protowire.BytesType), make([]byte, 1000))
		for _, outer := range []int32{at[1], at[0]} {
			if outer > 0 {
				data = protowire.AppendBytes(protowire.AppendTag(nil, protowire.Number(outer), protowire.BytesType), data)
			}
		}
		if c := Count(data); c.Numbers < 1000 {
			t.Errorf("%+v of a thousand numbers at %v", c, at)
		}
	}
	for name, spec := range map[string]corev1.PodSpec{
		"none":    {SecurityContext: &corev1.PodSecurityContext{}},
		"text":    {NodeName: strings.Repeat("n", 1000)},
		"command": {Containers: []corev1.Container{{Args: []string{strings.Repeat("a", 1000)}, Image: strings.Repeat("a", 1000)}}},
	} {
		data, err := (&corev1.Pod{Spec: spec}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if c := Count(data); c.Numbers > 0 {
			t.Errorf("%+v of a pod with %s", c, name)
		}
	}
}

// numbers finds the paths of lists of numbers in a type that is itself at a path.
func numbers(of reflect.Type, at path, seen map[any]bool, found map[path]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	here := struct {
		reflect.Type
		path
	}{of, at}
	if of.Kind() != reflect.Struct || seen[here] {
		return
	}
	seen[here] = true
	for i := range of.NumField() {
		f := of.Field(i)
		tag := strings.Split(f.Tag.Get("protobuf"), ",")
		if len(tag) < 3 {
			continue
		}
		n, err := strconv.ParseInt(tag[1], 10, 32)
		if err != nil {
			continue
		}
		inner := path{at[1], at[2], int32(n)}
		switch kind := f.Type.Kind(); {
		case kind == reflect.Map:
			numbers(f.Type.Elem(), path{inner[1], inner[2], 2}, seen, found)
		case kind == reflect.Slice && tag[0] != "bytes":
			found[inner] = true
		default:
			numbers(f.Type, inner, seen, found)
		}
	}
}
