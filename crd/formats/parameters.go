package formats

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of the parameters that are given to a driver of storage.
const (
	maxParameters     = 512
	maxParametersSize = 256 << 10
)

// parameters are those that a driver of storage is given.
func parameters(v any, path *field.Path) (errs field.ErrorList) {
	all := textsOf(v)
	if len(all) > maxParameters {
		return field.ErrorList{field.TooLong(path, "", maxParameters)}
	}
	size := 0
	for key, value := range all {
		size += len(key) + len(value)
		if key == "" {
			errs = append(errs, field.Invalid(path, key, "field can not be empty."))
		}
	}
	if size > maxParametersSize {
		errs = append(errs, field.TooLong(path, "", maxParametersSize))
	}
	return errs
}

// flexOptions are what a user may tell a driver, and not what Kubernetes tells it.
func flexOptions(v any, path *field.Path) (errs field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(textsOf(v))) {
		domain, _, _ := strings.Cut(key, "/")
		domain = "." + strings.ToLower(domain)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			errs = append(errs, field.Invalid(path.Key(key), key, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
}

// maxEntropy is how many bits of a hash there are to deal requests to queues by.
const maxEntropy = 60

// dealtQueues are queues that requests are dealt to by a hash.
func dealtQueues(v any, path *field.Path) field.ErrorList {
	m, _ := v.(map[string]any)
	queues, _ := m["queues"].(int64)
	hand, _ := m["handSize"].(int64)
	if hand < 1 || hand > queues || math.Ceil(math.Log2(float64(queues))*float64(hand)) <= maxEntropy {
		return nil // rules of the fields say the rest
	}
	return field.ErrorList{field.Invalid(path.Child("handSize"), hand, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", queues, hand, maxEntropy))}
}

// jsonObject is an object, of whatever fields.
func jsonObject(v any, path *field.Path) field.ErrorList {
	if _, ok := v.(map[string]any); !ok {
		return field.ErrorList{field.Invalid(path, "<value omitted>", "must be a valid JSON object")}
	}
	return nil
}
