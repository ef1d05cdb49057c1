package extend

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wasmgate/wasmgate/crd/builtin/translate"
	"github.com/wasmgate/wasmgate/crd/object"
)

// plainAutoscaler drops what autoscaling/v2 has fields for.
func plainAutoscaler(obj map[string]any) {
	annotations := object.Child(object.Child(obj, "metadata"), "annotations")
	for _, name := range translate.AutoscalerAnnotations {
		delete(annotations, name)
	}
	if annotations != nil && len(annotations) == 0 {
		delete(object.Child(obj, "metadata"), "annotations")
	}
}

// shownTargets is how many metrics a table shows.
const shownTargets = 2

// autoscalerTargets prints what an autoscaler measures and what it wants.
func autoscalerTargets(obj map[string]any) any {
	h := &autoscalingv2.HorizontalPodAutoscaler{}
	if object.ToTyped(obj, h) != nil {
		return ""
	}
	if len(h.Spec.Metrics) == 0 {
		return "<none>"
	}
	var list []string
	for i, m := range h.Spec.Metrics {
		var s autoscalingv2.MetricStatus
		if i < len(h.Status.CurrentMetrics) {
			s = h.Status.CurrentMetrics[i]
		}
		list = append(list, autoscalerTarget(m, s))
	}
	if n := len(list) - shownTargets; n > 0 {
		return fmt.Sprintf("%s + %d more...", strings.Join(list[:shownTargets], ", "), n)
	}
	return strings.Join(list, ", ")
}

func autoscalerTarget(m autoscalingv2.MetricSpec, s autoscalingv2.MetricStatus) string {
	switch {
	case m.Resource != nil:
		var now *autoscalingv2.MetricValueStatus
		if s.Resource != nil {
			now = &s.Resource.Current
		}
		return fmt.Sprintf("%s: %s", m.Resource.Name, ofResource(m.Resource.Target, now))
	case m.ContainerResource != nil:
		var now *autoscalingv2.MetricValueStatus
		if s.ContainerResource != nil {
			now = &s.ContainerResource.Current
		}
		return fmt.Sprintf("%s: %s", m.ContainerResource.Name, ofResource(m.ContainerResource.Target, now))
	case m.Pods != nil:
		if s.Pods != nil {
			return fmt.Sprintf("%s/%s", quantityOf(s.Pods.Current.AverageValue), quantityOf(m.Pods.Target.AverageValue))
		}
		return "<unknown>/" + quantityOf(m.Pods.Target.AverageValue)
	case m.External != nil:
		var now *autoscalingv2.MetricValueStatus
		if s.External != nil {
			now = &s.External.Current
		}
		return ofValue(m.External.Target, now)
	case m.Object != nil:
		var now *autoscalingv2.MetricValueStatus
		if s.Object != nil {
			now = &s.Object.Current
		}
		return ofValue(m.Object.Target, now)
	}
	return "<unknown type>"
}

func ofResource(t autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	current, target := "<unknown>", "<auto>"
	if t.AverageValue != nil {
		if now != nil {
			current = quantityOf(now.AverageValue)
		}
		return current + "/" + t.AverageValue.String()
	}
	if now != nil && now.AverageUtilization != nil {
		current = fmt.Sprintf("%d%%", *now.AverageUtilization)
	}
	if t.AverageUtilization != nil {
		target = fmt.Sprintf("%d%%", *t.AverageUtilization)
	}
	return current + "/" + target
}

func ofValue(t autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	current := "<unknown>"
	if t.AverageValue != nil {
		if now != nil && now.AverageValue != nil {
			current = now.AverageValue.String()
		}
		return fmt.Sprintf("%s/%s (avg)", current, t.AverageValue)
	}
	if now != nil {
		current = quantityOf(now.Value)
	}
	return current + "/" + quantityOf(t.Value)
}

func quantityOf(q *resource.Quantity) string {
	if q == nil {
		return "<nil>"
	}
	return q.String()
}
