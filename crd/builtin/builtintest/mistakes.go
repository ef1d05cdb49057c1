// Package builtintest owns what the tests of the packages below crd/builtin share: the
// recorded mistakes in objects of built-in kinds, told to strategies without a server.
// It must not know any kind.
package builtintest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/crdtest"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/test/recorded"
	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/mistakes"
)

// Count is what became of the requests of a table.
type Count struct {
	// Compared are the requests whose answer is a matter of the kind alone.
	Compared int
	// Taken and Refused are those of which kube-apiserver did the other thing, and
	// Fields those that are refused alike, where other fields are named.
	Taken, Refused, Fields int
}

// Mistakes tells the strategies of built-in kinds the requests of the table of
// mistakes, and counts the answers that are not kube-apiserver's. root is the folder
// of the module.
func Mistakes(t testing.TB, root string) (n Count) {
	t.Helper()
	stories, err := mistakes.Stories()
	if err != nil {
		t.Fatal(err)
	}
	defs := Definitions(t)
	for _, s := range stories {
		d := of(t, defs, s)
		if d == nil {
			continue
		}
		recording, err := recorded.Load(root+"/"+recorded.Folder, mistakes.Table, s)
		if err != nil {
			t.Fatal(err)
		}
		told := &told{of: d, namespace: namespace(s.Base)}
		for i, step := range s.Steps {
			n.add(t, recording.Headings[i], recording.Replies[i], told.answer(step))
		}
	}
	return n
}

// add compares an answer with the recorded one. Refusals for other reasons than that
// the object is invalid are the matter of others.
func (n *Count) add(t testing.TB, heading, want string, err error) {
	var status apierrors.APIStatus
	refused := errors.As(err, &status)
	taken, invalid := strings.HasPrefix(want, `{"code":20`), strings.HasPrefix(want, `{"code":422`)
	switch {
	case err != nil && !refused:
		t.Errorf("%s: %v", heading, err)
	case !taken && !invalid:
		return
	case taken && refused:
		n.Refused++
		t.Logf("%s: %v", heading, err)
	case invalid && !refused:
		n.Taken++
		t.Logf("%s: is taken; %s", heading, want)
	case invalid && text(t, status.Status()) != want:
		n.Fields++
	}
	n.Compared++
}

// text is a refusal as the table has it.
func text(t testing.TB, status metav1.Status) string {
	body, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&status)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := mistakes.Texts([]story.Reply{{Code: int(status.Code), Body: body}})
	if err != nil {
		t.Fatal(err)
	}
	return texts[0].Ordered
}

// Definitions are those of built-in kinds, by the kind's singular name.
func Definitions(t testing.TB) map[string]*crd.Definition {
	t.Helper()
	all, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*crd.Definition{}
	for _, d := range all {
		out[d.Singular] = d
	}
	return out
}

// of is the kind that a story is about, nil of one at a version that is not stored.
func of(t testing.TB, defs map[string]*crd.Definition, s story.Story) *crd.Definition {
	version, _ := crdtest.Parse(t, []byte(s.Sample))["apiVersion"].(string)
	for _, d := range defs {
		if strings.HasSuffix(s.Base, "/"+d.Plural) && d.APIVersion(d.StorageVersion) == version {
			return d
		}
	}
	return nil
}

// namespace is that of a collection's path, none of a cluster's.
func namespace(collection string) string {
	_, below, _ := strings.Cut(collection, "/namespaces/")
	name, _, _ := strings.Cut(below, "/")
	return name
}

// told is a kind that is told a story.
type told struct {
	of        *crd.Definition
	namespace string
	// there is the object that was created.
	there *unstructured.Unstructured
}

// answer is what the strategy says of a request.
func (k *told) answer(step story.Step) error {
	path, query, _ := strings.Cut(step.Path, "?")
	ctx := request.WithNamespace(context.Background(), k.namespace)
	v := k.of.Version(k.of.StorageVersion)
	if step.Method == http.MethodPost {
		obj, err := k.read([]byte(step.Body))
		if err != nil {
			return err
		}
		rest.FillObjectMetaSystemFields(obj)
		if err := rest.BeforeCreate(crdtest.Registry(k.of, v.Strategy), ctx, obj); err != nil {
			return err
		}
		if query == "" {
			k.there = obj
			k.there.SetResourceVersion("7")
		}
		return nil
	}
	update := v.Strategy
	if strings.HasSuffix(path, "/status") {
		update = v.Subresources["status"].Update
	}
	if k.there == nil {
		return errors.New("the object was not created")
	}
	obj, err := k.patched([]byte(step.Body))
	if err != nil {
		return err
	}
	if err := rest.BeforeUpdate(crdtest.Registry(k.of, update), ctx, obj, k.there.DeepCopy()); err != nil {
		return err
	}
	if query == "" {
		k.there = obj
	}
	return nil
}

// patched is the object that is there after a JSON patch.
func (k *told) patched(patch []byte) (*unstructured.Unstructured, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	now, err := k.there.MarshalJSON()
	if err != nil {
		return nil, err
	}
	then, err := operations.Apply(now)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", k.of.GroupResource(), "", err.Error(), 0, false)
	}
	return k.read(then)
}

// read is an object as a client sends it.
func (k *told) read(data []byte) (*unstructured.Unstructured, error) {
	tree, _, err := object.Parse(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	v := k.of.Version(k.of.StorageVersion)
	if _, err := v.Shape.FromClient(tree, false); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	obj := &unstructured.Unstructured{Object: tree}
	obj.SetNamespace(k.namespace)
	return obj, nil
}
