// Package scale owns the Scale (autoscaling/v1) as a form of objects: what it says of
// one by the paths that the version names, how it is read and what of it is
// written back, and its table. Its errors are the API's status errors, or say what
// in the object is at fault.
//
// It must not know requests, who owns fields or the engine.
package scale

import (
	"cmp"
	"fmt"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// What a Scale is.
const (
	Kind       = "Scale"
	APIVersion = "autoscaling/v1"
)

// Paths are where the objects of a version have what a Scale says; nil if the
// subresource is no scale.
func Paths(v *crd.Version, subresource string) *crd.Scale {
	if subresource == "" {
		return nil
	}
	if s := v.Subresources[subresource]; s != nil {
		return s.Scale
	}
	return nil
}

// Text returns the Scale of an object whose JSON is data.
func Text(p *crd.Scale, data []byte) ([]byte, error) {
	text, found, err := Written(p, data)
	if err == nil && !found {
		err = apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", p.SpecReplicasPath))
	}
	return text, err
}

// Written is Text, also of an object that does not say how many replicas it
// wants; found tells whether it does.
func Written(p *crd.Scale, data []byte) (text []byte, found bool, err error) {
	tree, _, err := object.Parse(data)
	if err != nil {
		return nil, false, apierrors.NewInternalError(err)
	}
	s, found, err := Of(p, tree)
	if err != nil {
		return nil, false, apierrors.NewInternalError(err)
	}
	text, err = object.Encode(s)
	return text, found, err
}

// Of is the Scale of an object. found tells whether the object says how
// many replicas it wants.
func Of(p *crd.Scale, tree map[string]any) (scale map[string]any, found bool, err error) {
	replicas, found, err := unstructured.NestedInt64(tree, fields(p.SpecReplicasPath)...)
	if err != nil {
		return nil, false, err
	}
	if replicas < 0 {
		return nil, false, fmt.Errorf("the spec replicas field %q cannot be negative", p.SpecReplicasPath)
	}
	status := map[string]any{}
	n, _, err := unstructured.NestedInt64(tree, fields(p.StatusReplicasPath)...)
	if err != nil {
		return nil, false, err
	}
	status["replicas"] = n
	if p.LabelSelectorPath != "" {
		s, there, err := selectorText(tree, fields(p.LabelSelectorPath))
		if err != nil {
			return nil, false, err
		}
		if there {
			status["selector"] = s
		}
	}
	meta := map[string]any{}
	all, _ := tree["metadata"].(map[string]any)
	for _, k := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		if v, ok := all[k]; ok {
			meta[k] = v
		}
	}
	spec := map[string]any{}
	if replicas != 0 { // as the Go type is written
		spec["replicas"] = replicas
	}
	return map[string]any{
		"kind": Kind, "apiVersion": APIVersion, "metadata": meta, "spec": spec, "status": status,
	}, found, nil
}

// selectorText is the selector at a path as a Scale has it. Custom resources
// hold the text itself, built-in kinds a selector, or a map of labels.
func selectorText(tree map[string]any, path []string) (string, bool, error) {
	v, there, err := unstructured.NestedFieldNoCopy(tree, path...)
	selector, ok := v.(map[string]any)
	if err != nil || !there || !ok {
		return unstructured.NestedString(tree, path...)
	}
	for field := range selector {
		if field != "matchLabels" && field != "matchExpressions" {
			set, _, err := unstructured.NestedStringMap(tree, path...)
			return labels.SelectorFromSet(set).String(), true, err
		}
	}
	var typed metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &typed); err != nil {
		return "", false, err
	}
	out, err := metav1.LabelSelectorAsSelector(&typed)
	if err != nil {
		return "", false, err
	}
	return out.String(), true, nil
}

// Set writes how many replicas an object wants into it, or into a part of it.
func Set(p *crd.Scale, tree map[string]any, replicas int64) error {
	return unstructured.SetNestedField(tree, replicas, Fields(p)...)
}

// Fields is the path to how many replicas an object wants.
func Fields(p *crd.Scale) []string { return fields(p.SpecReplicasPath) }

func fields(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// Check refuses what says that it is no Scale.
func Check(s map[string]any) error {
	kind, _ := s["kind"].(string)
	if kind != Kind {
		return apierrors.NewBadRequest(fmt.Sprintf("%s cannot be handled as a %s", kind, Kind))
	}
	if apiVersion, _ := s["apiVersion"].(string); apiVersion != APIVersion {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", apiVersion, APIVersion))
	}
	return nil
}

// Parse reads a Scale, which has what the Go type has that it is for clients. As for
// every such type, kind and version are known from the path. unknown are the fields
// that it does not have, and those that are there twice.
func Parse(data []byte) (s map[string]any, unknown []string, err error) {
	var typed autoscalingv1.Scale
	odd, err := kjson.UnmarshalStrict(data, &typed)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range odd {
		unknown = append(unknown, o.Error())
	}
	typed.Kind, typed.APIVersion = cmp.Or(typed.Kind, Kind), cmp.Or(typed.APIVersion, APIVersion)
	s, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&typed)
	return s, unknown, err
}

// Replicas is how many replicas a Scale wants; 0 where it does not say.
func Replicas(s map[string]any) (int64, error) {
	n, _, err := unstructured.NestedInt64(s, "spec", "replicas")
	if err != nil {
		return 0, apierrors.NewBadRequest(err.Error())
	}
	if n != int64(int32(n)) { // negative ones the object's strategy refuses
		return 0, apierrors.NewBadRequest(fmt.Sprintf("json: cannot unmarshal number %d into Go struct field ScaleSpec.spec.replicas of type int32", n))
	}
	return n, nil
}

// Validate refuses a Scale of the object with a name and a namespace with metadata
// that it may not have.
func Validate(p *crd.Scale, s map[string]any, name, namespace string) error {
	if p.ValidateMetadata == nil {
		return nil
	}
	var meta metav1.ObjectMeta
	all, _ := s["metadata"].(map[string]any)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(all, &meta); err != nil {
		return apierrors.NewInternalError(err)
	}
	meta.Name, meta.Namespace = name, namespace
	if errs := p.ValidateMetadata(&meta); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: autoscalingv1.GroupName, Kind: Kind}, name, errs)
	}
	return nil
}
