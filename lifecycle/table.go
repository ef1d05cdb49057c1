package lifecycle

// Gate is the life of a feature and of the gate that turns it.
type Gate struct {
	Name string
	// Stages are those that the feature was in, in their order.
	Stages []Stage
	// Deprecated is the release from which the gate is said to go although its
	// feature is not stable, and Removed the first that does not know it.
	Deprecated, Removed Release
	Replacement         string
}

// Stage is a feature from a release on.
type Stage struct {
	Since     Release
	Stability Stability
	// On is the default. What is stable is on, and its gate does nothing.
	On bool
}

// At is the stage of a release, nil before the first and after the gate's end.
func (g *Gate) At(now Release) (s *Stage) {
	for i := range g.Stages {
		if g.Stages[i].Since.Reached(now) && !g.Removed.Reached(now) {
			s = &g.Stages[i]
		}
	}
	return s
}

// Gates are all feature gates, by name. What has an earlier stage in kube-apiserver
// and could not be turned off here is stable from its first release. Declarative
// validation stays beta: it is younger here.
var Gates = []Gate{
	{Name: "APIResponseCompression", Stages: []Stage{{Release{1, 8}, Alpha, false}, {Release{1, 16}, Beta, true}}},
	{Name: "AllowUnsafeMalformedObjectDeletion", Stages: []Stage{{Release{1, 32}, Alpha, false}}},
	{Name: "CBORServingAndStorage", Stages: []Stage{{Release{1, 32}, Alpha, false}}},
	{Name: "ConsistentListFromCache", Stages: []Stage{{Release{1, 31}, Stable, true}}},
	{Name: "DeclarativeValidation", Stages: []Stage{{Release{1, 33}, Beta, true}}},
	{Name: "DeclarativeValidationTakeover", Stages: []Stage{{Release{1, 33}, Beta, false}}},
	{Name: "ListFromCacheSnapshot", Stages: []Stage{{Release{1, 33}, Alpha, false}, {Release{1, 34}, Beta, true}}},
	{Name: "ManifestBasedAdmissionControlConfig", Stages: []Stage{{Release{1, 36}, Alpha, false}}},
	{Name: "StreamingCollectionEncodingToJSON", Stages: []Stage{{Release{1, 33}, Stable, true}}},
	{Name: "StreamingCollectionEncodingToProtobuf", Stages: []Stage{{Release{1, 33}, Stable, true}}},
	{Name: "WatchList", Stages: []Stage{{Release{1, 27}, Alpha, false}, {Release{1, 32}, Beta, true}, {Release{1, 33}, Beta, false}, {Release{1, 34}, Beta, true}}},
}

// Metrics are the lives of metrics; one that is not listed is of the class ALPHA.
var Metrics = map[string]Life{
	"apiserver_request_total":                                      {Stability: Stable, Introduced: Release{1, 14}},
	"apiserver_request_duration_seconds":                           {Stability: Stable, Introduced: Release{1, 14}},
	"apiserver_current_inflight_requests":                          {Stability: Stable, Introduced: Release{1, 6}},
	"apiserver_longrunning_requests":                               {Stability: Stable, Introduced: Release{1, 22}},
	"apiserver_requested_deprecated_apis":                          {Stability: Stable, Introduced: Release{1, 19}},
	"apiserver_admission_controller_admission_duration_seconds":    {Stability: Stable, Introduced: Release{1, 14}},
	"apiserver_admission_step_admission_duration_seconds":          {Stability: Stable, Introduced: Release{1, 14}},
	"apiserver_response_sizes":                                     {Stability: Stable, Introduced: Release{1, 14}},
	"apiserver_storage_size_bytes":                                 {Stability: Stable, Introduced: Release{1, 28}},
	"apiserver_storage_events_received_total":                      {Stability: Beta, Introduced: Release{1, 28}},
	"apiserver_watch_list_duration_seconds":                        {Stability: Beta, Introduced: Release{1, 28}},
	"kubernetes_build_info":                                        {Stability: Beta, Introduced: Release{1, 14}},
	"apiserver_admission_webhook_admission_duration_seconds":       {Stability: Stable, Introduced: Release{1, 14}},
	"apiserver_validating_admission_policy_check_total":            {Stability: Beta, Introduced: Release{1, 26}},
	"apiserver_validating_admission_policy_check_duration_seconds": {Stability: Beta, Introduced: Release{1, 26}},
	"apiserver_flowcontrol_rejected_requests_total":                {Stability: Beta, Introduced: Release{1, 20}},
	"apiserver_flowcontrol_dispatched_requests_total":              {Stability: Beta, Introduced: Release{1, 20}},
	"apiserver_flowcontrol_current_inqueue_requests":               {Stability: Beta, Introduced: Release{1, 20}},
	"apiserver_flowcontrol_current_executing_requests":             {Stability: Beta, Introduced: Release{1, 20}},
	"apiserver_flowcontrol_current_executing_seats":                {Stability: Beta, Introduced: Release{1, 20}},
	"apiserver_flowcontrol_request_wait_duration_seconds":          {Stability: Beta, Introduced: Release{1, 20}},
	"apiserver_flowcontrol_nominal_limit_seats":                    {Stability: Beta, Introduced: Release{1, 26}},
	"kubernetes_healthcheck":                                       {Stability: Stable, Introduced: Release{1, 26}},
	"kubernetes_healthchecks_total":                                {Stability: Stable, Introduced: Release{1, 26}},
	"kubernetes_feature_enabled":                                   {Stability: Beta, Introduced: Release{1, 26}},
	"apiserver_validation_declarative_validation_mismatch_total":   {Stability: Beta, Introduced: Release{1, 33}},
	"apiserver_validation_declarative_validation_panic_total":      {Stability: Beta, Introduced: Release{1, 33}},
	"apiserver_storage_objects": {
		Stability: Stable, Introduced: Release{1, 21}, Deprecated: Release{1, 34}, Replacement: "apiserver_resource_objects",
	},
}

// Flags are the lives of flags that are not stable, or on their way out; the others
// came to stay.
var Flags = map[string]Life{}
