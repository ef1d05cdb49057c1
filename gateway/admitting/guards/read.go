package guards

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/admission/plugin/manifest"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/bounds/files"
)

// Suffix ends the names of all objects of folders but parameters, and of nothing that
// the API makes.
const Suffix = manifest.StaticConfigSuffix

const (
	policies = admissionv1.GroupName
	own      = "wasmgate.dev"
)

// allowed are the kinds of a folder. That of policies may have any other kind's objects
// besides, which are parameters.
var allowed = map[string][]schema.GroupKind{
	order.ValidatingAdmissionPolicy:  {{Group: policies, Kind: "ValidatingAdmissionPolicy"}, {Group: policies, Kind: "ValidatingAdmissionPolicyBinding"}},
	order.MutatingAdmissionPolicy:    {{Group: policies, Kind: "MutatingAdmissionPolicy"}, {Group: policies, Kind: "MutatingAdmissionPolicyBinding"}},
	order.ValidatingAdmissionWebhook: {{Group: policies, Kind: "ValidatingWebhookConfiguration"}},
	order.MutatingAdmissionWebhook:   {{Group: policies, Kind: "MutatingWebhookConfiguration"}},
	Modules:                          {{Group: own, Kind: "WasmModule"}, {Group: own, Kind: "ModuleTrust"}},
}

// Has reports whether a kind's objects are guards.
func Has(kind schema.GroupKind) bool {
	for _, kinds := range allowed {
		if slices.Contains(kinds, kind) {
			return true
		}
	}
	return false
}

// Object is one of a folder.
type Object struct {
	*unstructured.Unstructured
	// Parameter: it is not a guard itself, but what guards are asked with.
	Parameter bool
	// Content is that of a module whose source is a file beside its own, NAME.wasm.
	Content []byte
}

// State is what a folder says at a time. It is immutable.
type State struct {
	// Hash is kube-apiserver's of the files, sha256:...; "" where there is nothing.
	Hash    string
	Objects []Object
}

// Of are the objects of a kind that are no parameters, by name.
func (s *State) Of(kind string) (all []Object) {
	for _, o := range s.Objects {
		if !o.Parameter && o.GetKind() == kind {
			all = append(all, o)
		}
	}
	return all
}

// reader reads the folder of one plugin.
type reader struct {
	plugin, folder string
	kinds          map[schema.GroupVersionKind]kind
}

// kind is how objects of a kind are made and checked, before anybody adds to that: others
// refuse the names of guards.
type kind struct {
	crd.Shape
	crd.Strategy
}

func kindsOf(definitions []*crd.Definition) map[schema.GroupVersionKind]kind {
	all := map[schema.GroupVersionKind]kind{}
	for _, d := range definitions {
		for _, v := range d.Versions {
			all[d.GVK(v.Name)] = kind{v.Shape, v.Strategy}
		}
	}
	return all
}

// read reads what was seen of the folder. The first mistake is returned, with its file.
func (r *reader) read(ctx context.Context, seen sight) (*State, error) {
	s := &State{Hash: seen.hash}
	for _, d := range seen.documents {
		data, err := yaml.YAMLToJSONStrict(d.Doc)
		if err == nil && !bytes.Equal(data, []byte("null")) { // only comments
			err = r.add(ctx, s, d.FilePath, data)
		}
		if err != nil {
			return nil, fmt.Errorf("error loading %s: %w", d.FilePath, err)
		}
	}
	slices.SortStableFunc(s.Objects, func(a, b Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return s, r.whole(s)
}

// add adds the objects of a document: one, or those of a list.
func (r *reader) add(ctx context.Context, s *State, file string, data []byte) error {
	tree, _, err := object.ParseObject(data)
	if err != nil {
		return err
	}
	object.Detach(tree)
	obj := &unstructured.Unstructured{Object: tree}
	if obj.GetAPIVersion() != "v1" || obj.GetKind() != "List" {
		return r.addOne(ctx, s, file, obj)
	}
	items, _, err := unstructured.NestedSlice(tree, "items")
	if err != nil {
		return err
	}
	for _, item := range items {
		one, ok := item.(map[string]any)
		if !ok {
			return errors.New("an item of a list is no object")
		}
		if err := r.addOne(ctx, s, file, &unstructured.Unstructured{Object: one}); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) addOne(ctx context.Context, s *State, file string, obj *unstructured.Unstructured) error {
	gvk := obj.GroupVersionKind()
	one := Object{Unstructured: obj, Parameter: !slices.Contains(allowed[r.plugin], gvk.GroupKind())}
	if one.Parameter && (gvk.Group == policies || gvk.Kind == "" || !r.takesParameters()) || !one.Parameter && gvk.Version != "v1" {
		return fmt.Errorf("unsupported resource type %s", gvk)
	}
	if err := r.valid(ctx, obj); err != nil {
		return fmt.Errorf("%s %q: %w", gvk.Kind, obj.GetName(), err)
	}
	if err := r.named(s, one, file); err != nil {
		return err
	}
	var err error
	if gvk.Kind == "WasmModule" && !one.Parameter {
		err = r.content(s, &one)
	}
	s.Objects = append(s.Objects, one)
	return err
}

func (r *reader) takesParameters() bool {
	return r.plugin == order.ValidatingAdmissionPolicy || r.plugin == order.MutatingAdmissionPolicy
}

// named refuses an object without the name that it must have, or with another's.
func (r *reader) named(s *State, one Object, file string) error {
	seen := map[string]string{}
	for _, o := range s.Objects {
		if o.GroupVersionKind().GroupKind() == one.GroupVersionKind().GroupKind() && o.GetNamespace() == one.GetNamespace() {
			seen[o.GetName()] = "another document"
		}
	}
	if !one.Parameter {
		return manifest.ValidateManifestName(one.GetName(), file, seen)
	}
	if _, twice := seen[one.GetName()]; twice || len(validation.IsDNS1123Subdomain(one.GetName())) > 0 {
		return fmt.Errorf("a parameter needs a name of its own, not %q", one.GetName())
	}
	return nil
}

// valid makes an object what it would be if it was written by the API, which has to take
// it. Of a kind that is defined by an object nothing is known yet.
func (r *reader) valid(ctx context.Context, obj *unstructured.Unstructured) error {
	gvk := obj.GroupVersionKind()
	k, known := r.kinds[gvk]
	if !known {
		if slices.Contains(allowed[r.plugin], gvk.GroupKind()) {
			return errors.New("the kind is not served")
		}
		return nil
	}
	unknown, err := k.FromClient(obj.Object, true)
	if err == nil && len(unknown) > 0 {
		err = errors.New("strict decoding error: " + strings.Join(unknown, ", "))
	}
	if err != nil {
		return err
	}
	k.Prepare(ctx, obj, nil)
	if errs := k.Validate(ctx, obj, nil).Errors; len(errs) > 0 {
		return excerpt.Errors(errs)
	}
	k.Canonicalize(obj)
	return nil
}

// maxModule bounds the content of a module.
const maxModule = 64 << 20

// content reads the file of a module that is not in its object. It is part of the hash.
func (r *reader) content(s *State, one *Object) error {
	source, _, err := unstructured.NestedMap(one.Object, "spec", "source")
	if err != nil {
		return err
	}
	if _, inline := source["inline"]; inline {
		return nil
	}
	if _, file := source["upload"]; !file {
		return fmt.Errorf("WasmModule %q: spec.source has to be inline, or upload: {} for the file %s.wasm", one.GetName(), one.GetName())
	}
	if one.Content, err = files.Read(filepath.Join(r.folder, one.GetName()+".wasm"), maxModule); err != nil {
		return err
	}
	s.Hash = fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Appendf(nil, "%s %x", s.Hash, sha256.Sum256(one.Content))))
	return nil
}
