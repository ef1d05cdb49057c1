package metrics

import (
	"strings"
	"testing"
	"time"
)

func TestFlowControlIsShown(t *testing.T) {
	m := New()
	f := Flow{Schema: "s", Waiting: 1, WaitingSeats: 2, Executing: 3, Seats: 4, Dispatched: 5, Rejected: map[string]uint64{"time-out": 6, "queue-full": 0}}
	var from time.Time
	f.Waited[1].Since(from, from)
	f.Waited[1].Since(from, from.Add(30*time.Millisecond))
	f.Executed[0].Since(from, from.Add(time.Hour))
	f.Estimated.Observe(FlowSeats, 3)
	now := FlowControl{Fair: 1.5, Levels: []Level{{Name: "l", Limit: 7, Nominal: 8, Min: 9, Max: 10, R: 0.25, Target: 11, Flows: []Flow{f}}}}
	if err := ShowFlowControl(m, func() FlowControl { return now }); err != nil {
		t.Fatal(err)
	}
	text, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	const of = `flow_schema="s",priority_level="l"`
	for _, want := range []string{
		`current_inqueue_requests{` + of + `} 1`, `current_inqueue_seats{` + of + `} 2`, `current_executing_requests{` + of + `} 3`, `current_executing_seats{` + of + `} 4`,
		`dispatched_requests_total{` + of + `} 5`, `rejected_requests_total{` + of + `,reason="time-out"} 6`,
		`request_wait_duration_seconds_bucket{execute="true",` + of + `,le="0"} 1`, `request_wait_duration_seconds_bucket{execute="true",` + of + `,le="0.05"} 2`, `request_wait_duration_seconds_sum{execute="true",` + of + `} 0.03`,
		`request_execution_seconds_bucket{` + of + `,type="regular",le="30"} 0`, `request_execution_seconds_count{` + of + `,type="regular"} 1`,
		`work_estimated_seats_bucket{` + of + `,le="2"} 0`, `work_estimated_seats_bucket{` + of + `,le="4"} 1`,
		`current_limit_seats{priority_level="l"} 7`, `nominal_limit_seats{priority_level="l"} 8`, `lower_limit_seats{priority_level="l"} 9`, `upper_limit_seats{priority_level="l"} 10`,
		`current_r{priority_level="l"} 0.25`, `target_seats{priority_level="l"} 11`, `seat_fair_frac 1.5`,
	} {
		if !strings.Contains(string(text), "\napiserver_flowcontrol_"+want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(string(text), of+`,reason="queue-full"`) || strings.Contains(string(text), `execute="false"`) || !strings.Contains(string(text), "# HELP apiserver_flowcontrol_nominal_limit_seats [BETA]") {
		t.Error("what never happened is shown, or a class is wrong")
	}
}
