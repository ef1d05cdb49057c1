package translate

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
)

// CoreEvent is an event of events.k8s.io/v1 in the core group.
func CoreEvent(in *eventsv1.Event) (*corev1.Event, error) {
	return &corev1.Event{
		ObjectMeta: in.ObjectMeta, InvolvedObject: in.Regarding, Related: in.Related,
		Reason: in.Reason, Action: in.Action, Type: in.Type, Message: in.Note,
		EventTime: in.EventTime, Series: (*corev1.EventSeries)(in.Series),
		ReportingController: in.ReportingController, ReportingInstance: in.ReportingInstance,
		Source:         in.DeprecatedSource,
		FirstTimestamp: in.DeprecatedFirstTimestamp, LastTimestamp: in.DeprecatedLastTimestamp, Count: in.DeprecatedCount,
	}, nil
}

// Event is an event of the core group at events.k8s.io/v1.
func Event(in *corev1.Event) (*eventsv1.Event, error) {
	return &eventsv1.Event{
		ObjectMeta: in.ObjectMeta, Regarding: in.InvolvedObject, Related: in.Related,
		Reason: in.Reason, Action: in.Action, Type: in.Type, Note: in.Message,
		EventTime: in.EventTime, Series: (*eventsv1.EventSeries)(in.Series),
		ReportingController: in.ReportingController, ReportingInstance: in.ReportingInstance,
		DeprecatedSource:         in.Source,
		DeprecatedFirstTimestamp: in.FirstTimestamp, DeprecatedLastTimestamp: in.LastTimestamp, DeprecatedCount: in.Count,
	}, nil
}
