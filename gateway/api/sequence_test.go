package api

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// A list in YAML is what the library makes of the whole, however its items look.
func TestListsInYAMLAreMadeOfTheirItems_MT05(t *testing.T) {
	odd := []string{
		`{}`, `{"a":null}`, `{"a":[],"b":{}}`, `{"a":[[1,[2]],{"b":[{}]}]}`, `{"items":[]}`, `{"a":"\nitems: []\n"}`, `{"a":"- x"}`, `{"a":" x\n  y\n"}`,
		`{"a":"` + strings.Repeat("long words ", 100) + `"}`, `{"a":"true","b":"1e3","c":"~","d":"","é":"\u2028","<":">"}`, `{"a":1.5,"b":9007199254740993,"c":-1,"d":1e21}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"y"}},"data":{"f":"line\nline\n\n","g":"\ttab"}}`,
	}
	for n := range len(odd) + 1 {
		views := make(objects, n)
		for i := range views {
			views[i] = []byte(odd[(i*7+n)%len(odd)])
		}
		s := sequence{head: listHead("v1"), items: views, tail: listTail("ConfigMapList", &resource.List{Revision: 7, Continue: "c"})}
		var whole bytes.Buffer
		if err := s.write(&whole); err != nil {
			t.Fatal(err)
		}
		want, err := yaml.JSONToYAML(whole.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.yaml(t.Context()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d items: %v\n%s\nwant\n%s", n, err, got, want)
		}
	}
}

// Nobody goes on with a list in YAML when the time of its request is over.
func TestListsInYAMLEndWithTheirRequest_MT05(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.do("POST", widgets, a(fmt.Sprintf("w%d", i), "")).want(201, "")
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := sequence{head: listHead("v1"), items: objects{[]byte(`{}`)}, tail: listTail("List", &resource.List{})}
	cancel()
	if _, err := s.yaml(ctx); !apierrors.IsTimeout(err) {
		t.Errorf("got %v", err)
	}
	list := w.do("GET", widgets, "", "Accept: application/yaml").want(200, "items:\n- apiVersion: example.com/v1\n  kind: Widget\n")
	if list.ContentType != mediaYAML || strings.Count(list.body, "\n- apiVersion") != 3 {
		t.Errorf("%s %s", list.ContentType, list.body)
	}
}
