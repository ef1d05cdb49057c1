package plugin

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/quantity"
)

// tolerating is the part of a pod that says what it tolerates.
type tolerating struct {
	Tolerations []corev1.Toleration `json:"tolerations"`
}

func tolerationsOf(tree map[string]any) ([]corev1.Toleration, error) {
	list, has := object.Child(tree, "spec")["tolerations"]
	if !has {
		return nil, nil
	}
	var t tolerating
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"tolerations": list}, &t)
	return t.Tolerations, err
}

func setTolerations(tree map[string]any, list []corev1.Toleration) error {
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&tolerating{list})
	if err == nil {
		object.Ensure(tree, "spec")["tolerations"] = out["tolerations"]
	}
	return err
}

// asksForResources tells that a pod says how much it needs of processors or memory: not
// the best effort alone.
func asksForResources(tree map[string]any) (bool, error) {
	if class := object.TextAt(object.Child(tree, "status"), "qosClass"); class != "" {
		return class != string(corev1.PodQOSBestEffort), nil
	}
	spec := object.Child(tree, "spec")
	of := []map[string]any{spec}
	if object.Child(spec, "resources") == nil {
		of = append(object.Objects(spec["containers"]), object.Objects(spec["initContainers"])...)
	}
	for _, c := range of {
		for _, list := range []string{"requests", "limits"} {
			said := object.Child(c, "resources", list)
			for _, name := range []string{"cpu", "memory"} {
				if positive, err := isPositive(said[name]); positive || err != nil {
					return positive, err
				}
			}
		}
	}
	return false, nil
}

func isPositive(v any) (bool, error) {
	if v == nil {
		return false, nil
	}
	text := fmt.Sprint(v)
	if err := quantity.Check(text); err != nil {
		return false, err
	}
	q, err := resource.ParseQuantity(text)
	return q.Sign() > 0, err
}

// validTolerations checks those of a configuration.
func validTolerations(in string, list []corev1.Toleration) (errs field.ErrorList) {
	effects := []string{string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule), string(corev1.TaintEffectNoExecute)}
	for i, t := range list {
		at := field.NewPath("podtolerationrestriction", in).Index(i)
		if t.Key != "" {
			errs = append(errs, metav1validation.ValidateLabelName(t.Key, at.Child("key"))...)
		} else if t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		switch t.Operator {
		case corev1.TolerationOpEqual, "":
			if wrong := validation.IsValidLabelValue(t.Value); len(wrong) > 0 {
				errs = append(errs, field.Invalid(at.Child("operator"), t.Value, strings.Join(wrong, ";")))
			}
		case corev1.TolerationOpExists:
			if t.Value != "" {
				errs = append(errs, field.Invalid(at.Child("operator"), t.Value, "value must be empty when `operator` is 'Exists'"))
			}
		default:
			errs = append(errs, field.NotSupported(at.Child("operator"), t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
		}
		if t.Effect != "" && !slices.Contains(effects, string(t.Effect)) {
			errs = append(errs, field.NotSupported(at.Child("effect"), string(t.Effect), effects))
		}
	}
	return errs
}
