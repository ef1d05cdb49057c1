package extend

import (
	"fmt"
	"math"

	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	appsv1beta2 "k8s.io/api/apps/v1beta2"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	flowcontrolv1beta2 "k8s.io/api/flowcontrol/v1beta2"

	"github.com/wasmgate/wasmgate/crd/object"
)

// defaults are what was missing of the spec of an older version, where that is not what v1 has.
type defaults map[string]any

// fill says of a tree what it does not say.
func (d defaults) fill(tree map[string]any) {
	for name, v := range d {
		if tree[name] == nil || tree[name] == "" {
			tree[name] = v
		}
	}
}

// selectTemplate makes the labels of the template those of an object that has none, and
// those that it selects, where it does not say which.
func selectTemplate(tree map[string]any) {
	spec, meta := object.Child(tree, "spec"), object.Child(tree, "metadata")
	if labels := object.Child(spec, "template", "metadata", "labels"); labels != nil {
		defaults{"selector": map[string]any{"matchLabels": labels}}.fill(spec)
		defaults{"labels": labels}.fill(meta)
	}
}

// annotate keeps in an annotation what v1 has no field for.
func annotate(tree map[string]any, name string, v any) {
	meta := object.Child(tree, "metadata")
	defaults{"annotations": map[string]any{}}.fill(meta)
	object.Child(meta, "annotations")[name] = fmt.Sprint(v)
}

func rollBack(tree map[string]any) {
	if to := object.Child(tree, "spec", "rollbackTo"); to != nil {
		revision, _ := to["revision"].(int64)
		annotate(tree, appsv1beta2.DeprecatedRollbackTo, revision)
	}
}

// olderDeployment is one of apps/v1beta1 at v1.
func olderDeployment(in *appsv1beta1.Deployment) (*appsv1.Deployment, error) {
	return remade[appsv1.Deployment](in, func(tree map[string]any) {
		selectTemplate(tree)
		rollBack(tree)
		defaults{"revisionHistoryLimit": int64(2)}.fill(object.Child(tree, "spec"))
	})
}

// oldestDeployment is one of extensions/v1beta1 at apps/v1.
func oldestDeployment(in *extensionsv1beta1.Deployment) (*appsv1.Deployment, error) {
	return remade[appsv1.Deployment](in, func(tree map[string]any) {
		selectTemplate(tree)
		rollBack(tree)
		spec := object.Child(tree, "spec")
		defaults{"revisionHistoryLimit": int64(math.MaxInt32), "progressDeadlineSeconds": int64(math.MaxInt32), "strategy": map[string]any{}}.fill(spec)
		strategy := object.Child(spec, "strategy")
		defaults{"type": string(appsv1.RollingUpdateDeploymentStrategyType)}.fill(strategy)
		if strategy["type"] == string(appsv1.RollingUpdateDeploymentStrategyType) {
			defaults{"rollingUpdate": map[string]any{}}.fill(strategy)
			defaults{"maxUnavailable": int64(1), "maxSurge": int64(1)}.fill(object.Child(strategy, "rollingUpdate"))
		}
	})
}

// oldestReplicaSet is one of extensions/v1beta1 at apps/v1.
func oldestReplicaSet(in *extensionsv1beta1.ReplicaSet) (*appsv1.ReplicaSet, error) {
	return remade[appsv1.ReplicaSet](in, selectTemplate)
}

// oldestDaemonSet is one of extensions/v1beta1 at apps/v1.
func oldestDaemonSet(in *extensionsv1beta1.DaemonSet) (*appsv1.DaemonSet, error) {
	return remade[appsv1.DaemonSet](in, func(tree map[string]any) {
		selectTemplate(tree)
		replacedByHand(tree)
		annotate(tree, appsv1beta2.DeprecatedTemplateGeneration, in.Spec.TemplateGeneration)
	})
}

// olderStatefulSet is one of apps/v1beta1 at v1.
func olderStatefulSet(in *appsv1beta1.StatefulSet) (*appsv1.StatefulSet, error) {
	return remade[appsv1.StatefulSet](in, func(tree map[string]any) {
		selectTemplate(tree)
		replacedByHand(tree)
	})
}

func replacedByHand(tree map[string]any) {
	spec := object.Child(tree, "spec")
	defaults{"updateStrategy": map[string]any{}}.fill(spec)
	defaults{"type": string(appsv1.OnDeleteDaemonSetStrategyType)}.fill(object.Child(spec, "updateStrategy"))
}

// olderPriorityLevel is one of flowcontrol.apiserver.k8s.io/v1beta2, or v1beta1, at v1.
func olderPriorityLevel(in *flowcontrolv1beta2.PriorityLevelConfiguration) (*flowcontrolv1.PriorityLevelConfiguration, error) {
	return remade[flowcontrolv1.PriorityLevelConfiguration](in, func(tree map[string]any) {
		limited := object.Child(tree, "spec", "limited")
		if limited == nil {
			return
		}
		limited["nominalConcurrencyShares"] = limited["assuredConcurrencyShares"]
		if in.Spec.Limited.AssuredConcurrencyShares == 0 { // which was that nobody had said it
			limited["nominalConcurrencyShares"] = int64(30)
		}
	})
}
