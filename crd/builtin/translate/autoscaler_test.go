package translate

import (
	"reflect"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/yaml"
)

// everything is an autoscaler that says all that one can say.
const everything = `
metadata: {name: a, annotations: {mine: x}}
spec:
  minReplicas: 2
  maxReplicas: 7
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  behavior:
    scaleUp: {stabilizationWindowSeconds: 0, selectPolicy: Max, policies: [{type: Pods, value: 4, periodSeconds: 15}], tolerance: 50m}
    scaleDown: {selectPolicy: Disabled}
  metrics:
  - {type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 100Mi}}}
  - {type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 30}}}
  - {type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 100m}}}
  - {type: Pods, pods: {metric: {name: p, selector: {matchLabels: {a: b}}}, target: {type: AverageValue, averageValue: "10"}}}
  - {type: Object, object: {describedObject: {apiVersion: v1, kind: Service, name: s}, metric: {name: o}, target: {type: AverageValue, averageValue: "3"}}}
  - {type: Object, object: {describedObject: {apiVersion: v1, kind: Service, name: s}, metric: {name: o, selector: {}}, target: {type: Value, value: "3"}}}
  - {type: External, external: {metric: {name: e, selector: {matchLabels: {a: b}}}, target: {type: Value, value: "4"}}}
  - {type: External, external: {metric: {name: e}, target: {type: AverageValue, averageValue: "4"}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: c, target: {type: Utilization, averageUtilization: 20}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: c, target: {type: AverageValue, averageValue: "20"}}}
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}
status:
  observedGeneration: 3
  lastScaleTime: "2026-01-01T00:00:00Z"
  currentReplicas: 4
  desiredReplicas: 5
  currentMetrics:
  - {type: Resource, resource: {name: cpu, current: {averageUtilization: 0, averageValue: "0"}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: c, current: {averageUtilization: 3, averageValue: 3m}}}
  - {type: Pods, pods: {metric: {name: p}, current: {averageValue: "0"}}}
  - {type: Object, object: {describedObject: {kind: Service, name: s}, metric: {name: o}, current: {value: "0"}}}
  - {type: Object, object: {describedObject: {kind: Service, name: s}, metric: {name: o}, current: {averageValue: "5"}}}
  - {type: External, external: {metric: {name: e}, current: {averageValue: "0"}}}
  - {type: External, external: {metric: {name: e}, current: {value: "7"}}}
  conditions:
  - {type: AbleToScale, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z", reason: R, message: m, observedGeneration: 3}
`

func read2(t *testing.T, text string) *autoscalingv2.HorizontalPodAutoscaler {
	t.Helper()
	out := &autoscalingv2.HorizontalPodAutoscaler{}
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

func there(t *testing.T, in *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv1.HorizontalPodAutoscaler {
	t.Helper()
	out, err := AutoscalerV1(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func back(t *testing.T, in *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	t.Helper()
	out, err := AutoscalerV2(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t *testing.T, got, want any) {
	t.Helper()
	g, err := yaml.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if w, err := yaml.Marshal(want); err != nil || string(g) != string(w) {
		t.Errorf("got\n%s\nwant\n%s%v", g, w, err)
	}
}

// The way to v1 and back loses nothing, and neither does the other.
func TestAutoscalersKeepEverything_VER09(t *testing.T) {
	in := read2(t, everything)
	before := in.DeepCopy()
	old := there(t, in)
	if *old.Spec.TargetCPUUtilizationPercentage != 50 || *old.Status.CurrentCPUUtilizationPercentage != 0 || len(old.Annotations) != 5 {
		t.Errorf("at v1: %+v", old)
	}
	same(t, back(t, old), before)
	same(t, there(t, back(t, old)), old)
	if !reflect.DeepEqual(in, before) {
		t.Error("the argument was changed")
	}
}

// v1 has a field for one target of the processor: another one is kept elsewhere.
func TestSecondTargetOfTheProcessor(t *testing.T) {
	in := read2(t, `{spec: {metrics: [
	  {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}},
	  {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}}`)
	old := there(t, in)
	if *old.Spec.TargetCPUUtilizationPercentage != 50 || len(back(t, old).Spec.Metrics) != 2 {
		t.Errorf("%+v", old)
	}
}

// What only v1 has: nothing wanted, a measured utilization alone, and annotations
// that say nothing that can be read.
func TestAutoscalersOfV1(t *testing.T) {
	for _, in := range []autoscalingv1.HorizontalPodAutoscaler{
		{}, {Spec: autoscalingv1.HorizontalPodAutoscalerSpec{MaxReplicas: 3}},
	} {
		in.Annotations = map[string]string{"mine": "x"}
		for _, name := range AutoscalerAnnotations {
			in.Annotations[name] = "{bad"
		}
		used := int32(7)
		in.Status.CurrentCPUUtilizationPercentage = &used
		out := back(t, &in)
		if m := out.Spec.Metrics; len(m) != 1 || *m[0].Resource.Target.AverageUtilization != 80 || m[0].Resource.Name != "cpu" {
			t.Errorf("metrics %+v", m)
		}
		if m := out.Status.CurrentMetrics; len(m) != 1 || *m[0].Resource.Current.AverageUtilization != 7 || m[0].Resource.Current.AverageValue != nil {
			t.Errorf("measured %+v", m)
		}
		if out.Spec.Behavior != nil || out.Status.Conditions != nil || !reflect.DeepEqual(out.Annotations, map[string]string{"mine": "x"}) {
			t.Errorf("%+v", out)
		}
		if len(in.Annotations) != 1+len(AutoscalerAnnotations) {
			t.Error("the argument was changed")
		}
	}
	if b := behaviorV2("{}"); b != nil {
		t.Errorf("an empty behavior is %+v", b)
	}
}
