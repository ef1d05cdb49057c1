package resource

import (
	"fmt"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

const (
	scaleKind       = "Scale"
	scaleAPIVersion = "autoscaling/v1"
)

// Scale returns the autoscaling/v1 Scale of an object whose JSON is data.
func (t Target) Scale(data []byte) ([]byte, error) {
	scale, found, err := t.readScale(data)
	if err == nil && !found {
		err = apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", t.scalePaths().SpecReplicasPath))
	}
	return scale, err
}

// readScale is Scale, also of an object that does not say how many replicas it
// wants; found tells whether it does.
func (t Target) readScale(data []byte) (text []byte, found bool, err error) {
	tree, _, err := object.Parse(data)
	if err != nil {
		return nil, false, apierrors.NewInternalError(err)
	}
	scale, found, err := scaleOf(t.scalePaths(), tree)
	if err != nil {
		return nil, false, apierrors.NewInternalError(err)
	}
	text, err = object.Encode(scale)
	return text, found, err
}

func (t Target) scalePaths() *crd.Scale {
	if s := t.Version.Subresources[t.Subresource]; s != nil {
		return s.Scale
	}
	return nil
}

func fieldsOf(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// scaleOf is the Scale of an object. found tells whether the object says how
// many replicas it wants.
func scaleOf(p *crd.Scale, tree map[string]any) (scale map[string]any, found bool, err error) {
	replicas, found, err := unstructured.NestedInt64(tree, fieldsOf(p.SpecReplicasPath)...)
	if err != nil {
		return nil, false, err
	}
	if replicas < 0 {
		return nil, false, fmt.Errorf("the spec replicas field %q cannot be negative", p.SpecReplicasPath)
	}
	status := map[string]any{}
	n, _, err := unstructured.NestedInt64(tree, fieldsOf(p.StatusReplicasPath)...)
	if err != nil {
		return nil, false, err
	}
	status["replicas"] = n
	if p.LabelSelectorPath != "" {
		s, there, err := selectorText(tree, fieldsOf(p.LabelSelectorPath))
		if err != nil {
			return nil, false, err
		}
		if there {
			status["selector"] = s
		}
	}
	meta := map[string]any{}
	all, _ := tree["metadata"].(map[string]any)
	for _, k := range []string{"name", "namespace", "uid", revisionField, "creationTimestamp"} {
		if v, ok := all[k]; ok {
			meta[k] = v
		}
	}
	spec := map[string]any{}
	if replicas != 0 { // as the Go type is written
		spec["replicas"] = replicas
	}
	return map[string]any{
		"kind": scaleKind, "apiVersion": scaleAPIVersion, "metadata": meta, "spec": spec, "status": status,
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

// isScale refuses what says that it is no Scale.
func isScale(kind, apiVersion string) error {
	if kind != scaleKind {
		return apierrors.NewBadRequest(fmt.Sprintf("%s cannot be handled as a %s", kind, scaleKind))
	}
	if apiVersion != scaleAPIVersion {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", apiVersion, scaleAPIVersion))
	}
	return nil
}

// whose refuses a Scale of another object.
func (t Target) whose(name, namespace string) error {
	if err := t.sameName(name); err != nil {
		return err
	}
	if namespace != "" && t.Namespace != "" && namespace != t.Namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// validScale refuses a Scale with metadata that it may not have.
func (t Target) validScale(s *autoscalingv1.Scale) error {
	validate := t.scalePaths().ValidateMetadata
	if validate == nil {
		return nil
	}
	meta := s.ObjectMeta
	meta.Name, meta.Namespace = t.Name, t.Namespace
	errs := validate(&meta)
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: autoscalingv1.GroupName, Kind: scaleKind}, t.Name, errs)
}

// wantedReplicas validates a Scale that was applied, or that admission changed.
func (t Target) wantedReplicas(scale map[string]any) (int64, error) {
	kind, _ := scale["kind"].(string)
	apiVersion, _ := scale["apiVersion"].(string)
	if err := isScale(kind, apiVersion); err != nil {
		return 0, err
	}
	meta, _ := scale["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	if err := t.whose(name, namespace); err != nil {
		return 0, err
	}
	replicas, _, err := unstructured.NestedInt64(scale, "spec", "replicas")
	if err != nil {
		return 0, apierrors.NewBadRequest(err.Error())
	}
	if replicas != int64(int32(replicas)) { // negative ones the object's strategy refuses
		return 0, apierrors.NewBadRequest(fmt.Sprintf("json: cannot unmarshal number %d into Go struct field ScaleSpec.spec.replicas of type int32", replicas))
	}
	return replicas, nil
}
