package builtin

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

func configMap() *crd.Definition {
	docs := corev1.ConfigMap{}.SwaggerDoc()
	return define(kind[corev1.ConfigMap]{
		version: "v1", name: "ConfigMap", plural: "configmaps", shortNames: []string{"cm"}, namespaced: true,
		rules: rules[corev1.ConfigMap]{
			validate:       validateConfigMap,
			validateUpdate: validateConfigMapUpdate,
			unconditional:  true,
		},
		columns: []metav1.TableColumnDefinition{nameColumn, column("Data", docs["data"]), ageColumn},
		cells: func(c *corev1.ConfigMap) []any {
			return []any{c.Name, int64(len(c.Data) + len(c.BinaryData)), since(c.CreationTimestamp)}
		},
	})
}

func validateConfigMap(c *corev1.ConfigMap) field.ErrorList {
	errs := validateMeta(&c.ObjectMeta, true, apivalidation.NameIsDNSSubdomain)
	size := 0
	path := field.NewPath("data")
	for _, key := range sortedKeys(c.Data) {
		errs = append(errs, validateKey(path, key)...)
		if _, ok := c.BinaryData[key]; ok {
			errs = append(errs, field.Invalid(path.Key(key), key, "duplicate of key present in binaryData"))
		}
		size += len(c.Data[key])
	}
	path = field.NewPath("binaryData")
	for _, key := range sortedKeys(c.BinaryData) {
		errs = append(errs, validateKey(path, key)...)
		size += len(c.BinaryData[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

func validateConfigMapUpdate(c, old *corev1.ConfigMap) field.ErrorList {
	errs := validateMetaUpdate(&c.ObjectMeta, &old.ObjectMeta)
	errs = append(errs, validateFrozen(c.Immutable, old.Immutable,
		part{"data", reflect.DeepEqual(c.Data, old.Data)},
		part{"binaryData", reflect.DeepEqual(c.BinaryData, old.BinaryData)})...)
	return append(errs, validateConfigMap(c)...)
}

// validateKey checks one key of a data field.
func validateKey(path *field.Path, key string) field.ErrorList {
	var errs field.ErrorList
	for _, msg := range validation.IsConfigMapKey(key) {
		errs = append(errs, field.Invalid(path.Key(key), key, msg))
	}
	return errs
}

// part is a field of an object and whether it is as it was.
type part struct {
	name string
	same bool
}

// validateFrozen checks an object that may have been made immutable.
func validateFrozen(now, before *bool, parts ...part) field.ErrorList {
	if before == nil || !*before {
		return nil
	}
	const message = "field is immutable when `immutable` is set"
	var errs field.ErrorList
	if now == nil || !*now {
		errs = append(errs, field.Forbidden(field.NewPath("immutable"), message))
	}
	for _, p := range parts {
		if !p.same {
			errs = append(errs, field.Forbidden(field.NewPath(p.name), message))
		}
	}
	return errs
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
