package translate

import (
	"encoding/json"
	"maps"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wasmgate/wasmgate/crd/quantity"
)

// The annotations that have, at autoscaling/v1, what its fields cannot say.
const (
	metricsAnnotation    = "autoscaling.alpha.kubernetes.io/metrics"
	behaviorAnnotation   = "autoscaling.alpha.kubernetes.io/behavior"
	currentAnnotation    = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation = "autoscaling.alpha.kubernetes.io/conditions"
)

// AutoscalerAnnotations are those that belong to the API: at autoscaling/v2
// there are none of them.
var AutoscalerAnnotations = []string{
	metricsAnnotation, behaviorAnnotation, currentAnnotation, conditionsAnnotation,
	"autoscaling.alpha.kubernetes.io/scale-down-tolerance", "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
}

// defaultUtilization is what is wanted where nothing is said.
const defaultUtilization = 80

// AutoscalerV2 is an autoscaler of autoscaling/v1 at v2. Annotations that cannot
// be read say nothing.
func AutoscalerV2(in *autoscalingv1.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	out := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: in.ObjectMeta}
	out.Annotations = withoutOurs(in.Annotations)
	out.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
		MinReplicas:    in.Spec.MinReplicas, MaxReplicas: in.Spec.MaxReplicas,
		Metrics: metricsV2(in), Behavior: behaviorV2(in.Annotations[behaviorAnnotation]),
	}
	out.Status = autoscalingv2.HorizontalPodAutoscalerStatus{
		ObservedGeneration: in.Status.ObservedGeneration, LastScaleTime: in.Status.LastScaleTime,
		CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas,
		CurrentMetrics: currentV2(in),
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	if read(in.Annotations[conditionsAnnotation], &conditions) {
		for _, c := range conditions {
			out.Status.Conditions = append(out.Status.Conditions, autoscalingv2.HorizontalPodAutoscalerCondition{
				Type: autoscalingv2.HorizontalPodAutoscalerConditionType(c.Type), Status: c.Status,
				LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message, ObservedGeneration: c.ObservedGeneration,
			})
		}
	}
	return out, nil
}

// AutoscalerV1 is an autoscaler of autoscaling/v2 at v1.
func AutoscalerV1(in *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv1.HorizontalPodAutoscaler, error) {
	out := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: in.ObjectMeta}
	out.Spec = autoscalingv1.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
		MinReplicas:    in.Spec.MinReplicas, MaxReplicas: in.Spec.MaxReplicas,
	}
	out.Status = autoscalingv1.HorizontalPodAutoscalerStatus{
		ObservedGeneration: in.Status.ObservedGeneration, LastScaleTime: in.Status.LastScaleTime,
		CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas,
	}
	var metrics []autoscalingv1.MetricSpec
	for i := range in.Spec.Metrics {
		if m := &in.Spec.Metrics[i]; out.Spec.TargetCPUUtilizationPercentage == nil && wantsCPU(m) {
			out.Spec.TargetCPUUtilizationPercentage = m.Resource.Target.AverageUtilization
		} else {
			metrics = append(metrics, metricV1(m))
		}
	}
	var current []autoscalingv1.MetricStatus
	for i := range in.Status.CurrentMetrics {
		m := &in.Status.CurrentMetrics[i]
		current = append(current, currentV1(m)) // also of the processor: v1 has no field for the raw value
		if r := m.Resource; m.Type == autoscalingv2.ResourceMetricSourceType && r != nil && r.Name == corev1.ResourceCPU && r.Current.AverageUtilization != nil {
			out.Status.CurrentCPUUtilizationPercentage = r.Current.AverageUtilization
		}
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	for _, c := range in.Status.Conditions {
		conditions = append(conditions, autoscalingv1.HorizontalPodAutoscalerCondition{
			Type: autoscalingv1.HorizontalPodAutoscalerConditionType(c.Type), Status: c.Status,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message, ObservedGeneration: c.ObservedGeneration,
		})
	}
	annotations := withoutOurs(in.Annotations)
	err := annotate(&annotations, metricsAnnotation, metrics, len(metrics) > 0)
	if err == nil {
		err = annotate(&annotations, currentAnnotation, current, len(current) > 0)
	}
	if err == nil {
		err = annotate(&annotations, behaviorAnnotation, behaviorOf(in.Spec.Behavior), in.Spec.Behavior != nil)
	}
	if err == nil {
		err = annotate(&annotations, conditionsAnnotation, conditions, len(conditions) > 0)
	}
	out.Annotations = annotations
	return out, err
}

// wantsCPU tells the metric that autoscaling/v1 has a field for.
func wantsCPU(m *autoscalingv2.MetricSpec) bool {
	return m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil &&
		m.Resource.Name == corev1.ResourceCPU && m.Resource.Target.AverageUtilization != nil
}

// metricsV2 are the metrics of annotations, and after them that of the field.
func metricsV2(in *autoscalingv1.HorizontalPodAutoscaler) (out []autoscalingv2.MetricSpec) {
	var others []autoscalingv1.MetricSpec
	if read(in.Annotations[metricsAnnotation], &others) {
		for i := range others {
			out = append(out, metricV2(&others[i]))
		}
	}
	wanted := in.Spec.TargetCPUUtilizationPercentage
	if wanted == nil && len(out) == 0 {
		n := int32(defaultUtilization)
		wanted = &n
	}
	if wanted != nil {
		out = append(out, autoscalingv2.MetricSpec{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: wanted},
			},
		})
	}
	return out
}

// currentV2 are what was measured: the annotation says more than the field.
func currentV2(in *autoscalingv1.HorizontalPodAutoscaler) (out []autoscalingv2.MetricStatus) {
	var current []autoscalingv1.MetricStatus
	if read(in.Annotations[currentAnnotation], &current) {
		for i := range current {
			out = append(out, measuredV2(&current[i]))
		}
		return out
	}
	if used := in.Status.CurrentCPUUtilizationPercentage; used != nil {
		out = append(out, autoscalingv2.MetricStatus{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricStatus{
				Name: corev1.ResourceCPU, Current: autoscalingv2.MetricValueStatus{AverageUtilization: used},
			},
		})
	}
	return out
}

// behavior is how the annotation spells a behavior: like no version does.
type behavior struct{ ScaleUp, ScaleDown *scalingRules }

type scalingRules struct {
	StabilizationWindowSeconds *int32
	SelectPolicy               *autoscalingv2.ScalingPolicySelect
	Policies                   []scalingPolicy
	Tolerance                  *resource.Quantity
}

type scalingPolicy struct {
	Type          autoscalingv2.HPAScalingPolicyType
	Value         int32
	PeriodSeconds int32
}

func behaviorOf(in *autoscalingv2.HorizontalPodAutoscalerBehavior) *behavior {
	if in == nil {
		return nil
	}
	rules := func(in *autoscalingv2.HPAScalingRules) *scalingRules {
		if in == nil {
			return nil
		}
		out := &scalingRules{StabilizationWindowSeconds: in.StabilizationWindowSeconds, SelectPolicy: in.SelectPolicy, Tolerance: in.Tolerance}
		for _, p := range in.Policies {
			out.Policies = append(out.Policies, scalingPolicy(p))
		}
		return out
	}
	return &behavior{rules(in.ScaleUp), rules(in.ScaleDown)}
}

func behaviorV2(text string) *autoscalingv2.HorizontalPodAutoscalerBehavior {
	var b behavior
	if !read(text, &b) || b == (behavior{}) {
		return nil
	}
	rules := func(in *scalingRules) *autoscalingv2.HPAScalingRules {
		if in == nil {
			return nil
		}
		out := &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: in.StabilizationWindowSeconds, SelectPolicy: in.SelectPolicy, Tolerance: in.Tolerance}
		for _, p := range in.Policies {
			out.Policies = append(out.Policies, autoscalingv2.HPAScalingPolicy(p))
		}
		return out
	}
	return &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules(b.ScaleUp), ScaleDown: rules(b.ScaleDown)}
}

// withoutOurs is a copy without the annotations of the API; nil of none.
func withoutOurs(in map[string]string) map[string]string {
	out := maps.Clone(in)
	for _, name := range AutoscalerAnnotations {
		delete(out, name)
	}
	return out
}

// read tells whether text could be read.
func read(text string, into any) bool {
	data := []byte(text)
	return json.Valid(data) && quantity.CheckText(data, reflect.TypeOf(into)) == nil && json.Unmarshal(data, into) == nil
}

func annotate(annotations *map[string]string, name string, value any, is bool) error {
	if !is {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if *annotations == nil {
		*annotations = map[string]string{}
	}
	(*annotations)[name] = string(text)
	return nil
}
