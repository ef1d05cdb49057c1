// Package sent owns reading what clients send to subresources that are questions.
//
// It must not know what is asked, nor HTTP.
package sent

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Object is a body of a Go type, which protobuf has a form of.
type Object interface {
	runtime.Object
	metav1.Object
	Unmarshal([]byte) error
}

// Body is what a client sent.
type Body struct {
	// ContentType is JSON's or protobuf's.
	ContentType string
	Data        []byte
	// Options say what becomes of fields that are unknown or repeated.
	Options resource.WriteOptions
}

// Read reads a body that is about the target, whose namespace it
// gets. It may be of any of the versions, and leave out of which kind it is; the
// first is the one that is meant then.
func Read(b Body, into Object, t resource.Target, kind string, versions ...schema.GroupVersion) error {
	said, err := b.read(into, versions[0].WithKind(kind))
	if err != nil {
		return err
	}
	if said.Kind != kind || !slices.Contains(versions, said.GroupVersion()) {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: no kind %q is registered for version %q", said.Kind, said.Version, kind, said.Kind, said.GroupVersion()))
	}
	if n := into.GetNamespace(); n != "" && n != t.Namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	into.SetNamespace(t.Namespace)
	return nil
}

// read returns of which kind the body says to be.
func (b Body) read(into Object, meant schema.GroupVersionKind) (said schema.GroupVersionKind, err error) {
	if b.ContentType == wire.MediaType {
		e, problem := wire.Open(b.Data)
		if problem != nil {
			return said, resource.Unrecognized(meant.Kind, problem, b.Data)
		}
		if said, err = schema.FromAPIVersionAndKind(e.APIVersion, e.Kind), into.Unmarshal(e.Raw); err == nil {
			into.GetObjectKind().SetGroupVersionKind(said) // as JSON has it
			b.Options.NoteDecoded(into)
		}
	} else {
		found, problem := kubejson.DefaultMetaFactory.Interpret(b.Data)
		if problem != nil {
			return said, resource.Unrecognized(meant.Kind, problem, b.Data)
		}
		if said = *found; said.Kind == "" || said.Kind == meant.Kind {
			err = b.json(into)
		}
	}
	if err != nil {
		return said, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", meant.Kind, meant.Version, meant.Kind, err))
	}
	if said.Version == "" {
		said.Group, said.Version = meant.Group, meant.Version
	}
	if said.Kind == "" {
		said.Kind = meant.Kind
	}
	return said, nil
}

// json reads JSON, and reports what the type does not have.
func (b Body) json(into Object) error {
	odd, err := kjson.UnmarshalStrict(b.Data, into)
	if err != nil {
		return err
	}
	problems := b.Options.Problems
	for _, o := range odd {
		problems = append(problems, o.Error())
	}
	return b.Options.Report(problems)
}
