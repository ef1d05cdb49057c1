package extend

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Cell is the function of a name that prints what no expression can say; nil where there
// is none. It never fails: an object that cannot be read has empty cells.
func Cell(name string) func(obj map[string]any) any { return cells[name] }

var cells = map[string]func(obj map[string]any) any{
	"podReady":          func(obj map[string]any) any { return readPod(obj).ready() },
	"podStatus":         func(obj map[string]any) any { return readPod(obj).reason },
	"podRestarts":       func(obj map[string]any) any { return readPod(obj).restartCount() },
	"autoscalerTargets": autoscalerTargets,
	"eventCount":        eventCount,
	"eventFirstSeen":    eventFirstSeen,
	"eventLastSeen":     eventLastSeen,
	"eventMessage":      eventMessage,
	"eventObject":       eventObject,
	"eventReporter":     eventReporter,
	"eventSource":       eventSource,
	"bindingParams":     bindingParams,
}

// podSummary is what tables say of a pod.
type podSummary struct {
	pod                    *corev1.Pod
	reason                 string
	readyContainers, total int
	restarts               int
	lastRestart            time.Time
}

func readPod(obj map[string]any) *podSummary {
	s := &podSummary{pod: &corev1.Pod{}}
	if object.ToTyped(obj, s.pod) != nil {
		return s
	}
	p := s.pod
	s.reason = string(p.Status.Phase)
	if p.Status.Reason != "" {
		s.reason = p.Status.Reason
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated {
			s.reason = c.Reason
		}
	}
	s.total = len(p.Spec.Containers)
	for i := range p.Spec.InitContainers {
		if sidecar(&p.Spec.InitContainers[i]) {
			s.total++
		}
	}
	if waiting := s.initContainers(); !waiting || s.condition(corev1.PodInitialized) {
		s.containers()
	}
	if p.DeletionTimestamp != nil {
		switch {
		case p.Status.Reason == "NodeLost":
			s.reason = "Unknown"
		case p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded:
			s.reason = "Terminating"
		}
	}
	return s
}

// sidecar tells an init container that goes on running.
func sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func (s *podSummary) condition(t corev1.PodConditionType) bool {
	return slices.ContainsFunc(s.pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == t && c.Status == corev1.ConditionTrue
	})
}

func (s *podSummary) restarted(c *corev1.ContainerStatus) {
	s.restarts += int(c.RestartCount)
	if t := c.LastTerminationState.Terminated; t != nil && t.FinishedAt.After(s.lastRestart) {
		s.lastRestart = t.FinishedAt.Time
	}
}

// initContainers tells whether the pod still waits for one of them, and says so
// in the reason.
func (s *podSummary) initContainers() bool {
	sidecars := map[string]bool{}
	for i := range s.pod.Spec.InitContainers {
		c := &s.pod.Spec.InitContainers[i]
		sidecars[c.Name] = sidecar(c)
	}
	for i := range s.pod.Status.InitContainerStatuses {
		c := &s.pod.Status.InitContainerStatuses[i]
		s.restarted(c)
		switch {
		case c.State.Terminated != nil && c.State.Terminated.ExitCode == 0:
			continue
		case sidecars[c.Name] && c.Started != nil && *c.Started:
			if c.Ready {
				s.readyContainers++
			}
			continue
		case c.State.Terminated != nil:
			s.reason = "Init:" + ended(c.State.Terminated)
		case c.State.Waiting != nil && c.State.Waiting.Reason != "" && c.State.Waiting.Reason != "PodInitializing":
			s.reason = "Init:" + c.State.Waiting.Reason
		default:
			s.reason = fmt.Sprintf("Init:%d/%d", i, len(s.pod.Spec.InitContainers))
		}
		return true
	}
	return false
}

func ended(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

func (s *podSummary) containers() {
	s.restarts, s.lastRestart = 0, time.Time{}
	for i := range s.pod.Spec.InitContainers { // those that go on count for good
		if c := &s.pod.Spec.InitContainers[i]; sidecar(c) {
			for j := range s.pod.Status.InitContainerStatuses {
				if st := &s.pod.Status.InitContainerStatuses[j]; st.Name == c.Name {
					s.restarted(st)
				}
			}
		}
	}
	running, failed := false, ""
	for _, c := range slices.Backward(s.pod.Status.ContainerStatuses) {
		s.restarted(&c)
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			s.reason = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			s.reason = ended(c.State.Terminated)
			if c.State.Terminated.ExitCode != 0 {
				failed = s.reason
			}
		case c.Ready && c.State.Running != nil:
			running = true
			s.readyContainers++
		}
	}
	if s.reason != "Completed" {
		return
	}
	switch {
	case running && s.condition(corev1.PodReady):
		s.reason = "Running"
	case failed != "":
		s.reason = failed
	case running:
		s.reason = "NotReady"
	}
}

func (s *podSummary) ready() string { return fmt.Sprintf("%d/%d", s.readyContainers, s.total) }

func (s *podSummary) restartCount() string {
	if s.restarts == 0 || s.lastRestart.IsZero() {
		return fmt.Sprint(s.restarts)
	}
	return fmt.Sprintf("%d (%s ago)", s.restarts, dyn.Age(s.lastRestart))
}
