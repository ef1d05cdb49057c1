package shapes

import (
	"github.com/wasmgate/wasmgate/sdk"
)

// targets are the types of a target: the field each had, and the one it has below
// "target".
var targets = []struct{ old, kind, value string }{
	{"targetAverageUtilization", "Utilization", "averageUtilization"},
	{"targetAverageValue", "AverageValue", "averageValue"},
}

// autoscalerToV2 moves targets, which were a field for each type, below one object
// that names its type.
func autoscalerToV2(o *sdk.Object) error {
	return o.At("spec", "metrics").Each(func(_ int, metric *sdk.Object) error {
		for _, t := range targets {
			f := metric.At("resource", t.old)
			if !f.Exists() {
				continue
			}
			if err := f.MoveTo("resource", "target", t.value); err != nil {
				return err
			}
			if err := metric.At("resource", "target", "type").SetString(t.kind); err != nil {
				return err
			}
		}
		return nil
	})
}

func autoscalerToV2beta1(o *sdk.Object) error {
	return o.At("spec", "metrics").Each(func(_ int, metric *sdk.Object) error {
		for _, t := range targets {
			if err := renamed(metric, []string{"resource", "target", t.value}, []string{"resource", t.old})(); err != nil {
				return err
			}
		}
		metric.At("resource", "target").Delete()
		return nil
	})
}

// Selectors that say what an empty one meant at the other version: at v1beta1 it
// selected nothing, at v1 it selects all.
const (
	emptyKey = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
	none     = `{"matchExpressions":[{"key":"` + emptyKey + `","operator":"Exists"}]}`
	all      = `{"matchExpressions":[{"key":"` + emptyKey + `","operator":"DoesNotExist"}]}`
)

// budgetToV1 keeps what a selector selects, where its text means something else.
func budgetToV1(o *sdk.Object) error { return reselect(o, none, all) }

func budgetToV1beta1(o *sdk.Object) error { return reselect(o, all, none) }

// reselect writes for an empty selector what it meant, and an empty one for what it
// means at the other version.
func reselect(o *sdk.Object, empty, becomesEmpty string) error {
	selector := o.At("spec", "selector")
	switch {
	case selector.Exists() && selector.Len() == 0:
		return selector.SetRaw([]byte(empty))
	case string(selector.Raw()) == becomesEmpty:
		return selector.SetRaw([]byte("{}"))
	}
	return nil
}

// zeroShares says at v1beta3, where 0 shares meant the default, that 0 is meant.
const zeroShares = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"

var shares = []string{"spec", "limited", "nominalConcurrencyShares"}

// levelToV1 writes the default of the old version down: at v1, 0 is 0.
func levelToV1(o *sdk.Object) error {
	kept := o.At("metadata", "annotations", zeroShares)
	n, ok := o.At(shares...).Int()
	switch {
	case !o.At("spec", "limited").Exists():
		return nil
	case kept.Exists():
		kept.Delete()
		if annotations := o.At("metadata", "annotations"); annotations.Len() == 0 {
			annotations.Delete()
		}
		return o.At(shares...).SetInt(0)
	case !ok || n == 0:
		return o.At(shares...).SetInt(30)
	}
	return nil
}

func levelToV1beta3(o *sdk.Object) error {
	if n, ok := o.At(shares...).Int(); ok && n == 0 {
		return o.At("metadata", "annotations", zeroShares).SetString("")
	}
	return nil
}

// deploymentToV1 writes down what the old version's defaults were, where the new one
// has others, and makes the selector that has become required. What v1 has no place
// for is kept in an annotation.
func deploymentToV1(o *sdk.Object) error {
	return inOrder(
		defaulted(o, "2", "spec", "revisionHistoryLimit"),
		defaulted(o, "600", "spec", "progressDeadlineSeconds"),
		func() error {
			labels := o.At("spec", "template", "metadata", "labels")
			if o.At("spec", "selector").Exists() || !labels.Exists() {
				return nil
			}
			return o.At("spec", "selector", "matchLabels").SetRaw(append([]byte(nil), labels.Raw()...))
		},
		func() error {
			back := o.At("spec", "rollbackTo", "revision")
			if !back.Exists() {
				return nil
			}
			text := string(back.Raw())
			o.At("spec", "rollbackTo").Delete()
			return o.At("metadata", "annotations", "deprecated.deployment.rollback.revision").SetString(text)
		})
}

func deploymentToV1beta1(o *sdk.Object) error {
	kept := o.At("metadata", "annotations", "deprecated.deployment.rollback.revision")
	text, ok := kept.String()
	if !ok {
		return nil
	}
	kept.Delete()
	if annotations := o.At("metadata", "annotations"); annotations.Len() == 0 {
		annotations.Delete()
	}
	return o.At("spec", "rollbackTo", "revision").SetRaw([]byte(text))
}

// requestToV1 fills what has become required: who is to sign, and the status of each
// condition.
func requestToV1(o *sdk.Object) error {
	if err := defaulted(o, `"kubernetes.io/legacy-unknown"`, "spec", "signerName")(); err != nil {
		return err
	}
	return o.At("status", "conditions").Each(func(_ int, c *sdk.Object) error { return defaulted(c, `"True"`, "status")() })
}

// requestToV1beta1 has nothing to do: all that v1 says v1beta1 may say.
func requestToV1beta1(*sdk.Object) error { return nil }
