package metrics

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Flow is what flow control does with the requests of one FlowSchema at one priority
// level.
type Flow struct {
	Schema string
	// Waiting and Executing are requests, and the others their seats.
	Waiting, WaitingSeats, Executing, Seats int
	Dispatched                              uint64
	// Rejected is by reason.
	Rejected map[string]uint64
	// Waited are the times in queues of those that were refused and of those that
	// were not, Executed of ordinary requests and of the begin of watches.
	Waited, Executed [2]Buckets
	// Estimated are seats of requests, Length of queues, with each that joins one, and
	// Watches how many are told of a write.
	Estimated, Length, Watches Buckets
}

// Level is a priority level.
type Level struct {
	Name string
	// Limit is how many seats there are now, the others what is configured.
	Limit, Nominal, Min, Max int
	// R is how far it is.
	R float64
	// Of the seats that were wanted between the last two times they were lent.
	High, Average, Deviation, Smoothed, Target float64
	Flows                                      []Flow
}

// FlowControl is flow control at one moment. Fair is the fraction of their targets that
// levels got.
type FlowControl struct {
	Levels []Level
	Fair   float64
}

// The bounds of buckets are kube-apiserver's.
var (
	FlowSeconds = []float64{0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30}
	FlowLengths = []float64{0, 10, 25, 50, 100, 250, 500, 1000}
	FlowSeats   = []float64{1, 2, 4, 8, 16, 32, 64, 100}
	FlowWatches = []float64{0, 1, 10, 100, 1000, 10000}
)

// Buckets is a histogram that whoever has it guards. Its zero value is empty.
type Buckets struct {
	counts [13]uint64
	count  uint64
	sum    float64
}

// Observe counts a value among bounds, which are the same every time.
func (b *Buckets) Observe(bounds []float64, v float64) {
	b.count++
	b.sum += v
	for i, most := range bounds {
		if v <= most {
			b.counts[i]++
			return
		}
	}
}

// Since counts the seconds from one time to another.
func (b *Buckets) Since(from, to time.Time) { b.Observe(FlowSeconds, to.Sub(from).Seconds()) }

func (b *Buckets) metric(d *prometheus.Desc, bounds []float64, labels ...string) prometheus.Metric {
	all, sum := map[float64]uint64{}, uint64(0)
	for i, most := range bounds {
		sum += b.counts[i]
		all[most] = sum
	}
	return prometheus.MustNewConstHistogram(d, b.count, b.sum, all, labels...)
}

// ShowFlowControl adds the metrics of flow control to m, which now is asked for whenever
// they are read. It must be safe for concurrent use. It can be called once.
func ShowFlowControl(m *Metrics, now func() FlowControl) error {
	if err := m.registry.Register(&flows{now}); err != nil {
		return fmt.Errorf("metrics of flow control: %w", err)
	}
	return nil
}

// flows implements [prometheus.Collector].
type flows struct{ now func() FlowControl }

func flowDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("apiserver_flowcontrol_"+name, help, labels, nil)
}

const ofLevel, ofSchema = "priority_level", "flow_schema"

var (
	flowRejected   = flowDesc("rejected_requests_total", "Requests that flow control refused.", ofLevel, ofSchema, "reason")
	flowDispatched = flowDesc("dispatched_requests_total", "Requests that flow control let begin.", ofLevel, ofSchema)
	flowWaiting    = flowDesc("current_inqueue_requests", "Requests that wait in queues.", ofLevel, ofSchema)
	flowWanted     = flowDesc("current_inqueue_seats", "Seats that requests wait for in queues.", ofLevel, ofSchema)
	flowExecuting  = flowDesc("current_executing_requests", "Requests that have a seat: watches until they have begun.", ofLevel, ofSchema)
	flowSeats      = flowDesc("current_executing_seats", "Seats of requests that have any.", ofLevel, ofSchema)
	flowWaited     = flowDesc("request_wait_duration_seconds", "Time of requests in queues.", ofLevel, ofSchema, "execute")
	flowExecuted   = flowDesc("request_execution_seconds", "Time of requests with a seat.", ofLevel, ofSchema, "type")
	flowEstimated  = flowDesc("work_estimated_seats", "Seats of requests.", ofLevel, ofSchema)
	flowLength     = flowDesc("request_queue_length_after_enqueue", "Length of a queue when a request joins it.", ofLevel, ofSchema)
	flowWatches    = flowDesc("watch_count_samples", "Watches that are told of a write.", ofLevel, ofSchema)

	flowNominal   = flowDesc("nominal_limit_seats", "Seats of a level by its share.", ofLevel)
	flowLower     = flowDesc("lower_limit_seats", "Seats that a level has at least.", ofLevel)
	flowUpper     = flowDesc("upper_limit_seats", "Seats that a level has at most.", ofLevel)
	flowLimit     = flowDesc("current_limit_seats", "Seats that a level has now.", ofLevel)
	flowHigh      = flowDesc("demand_seats_high_watermark", "The most seats that were wanted, before seats were lent last.", ofLevel)
	flowAverage   = flowDesc("demand_seats_average", "The seats that were wanted on the average, before seats were lent last.", ofLevel)
	flowDeviation = flowDesc("demand_seats_stdev", "The standard deviation of seats that were wanted, before seats were lent last.", ofLevel)
	flowSmoothed  = flowDesc("demand_seats_smoothed", "Seats that were wanted, smoothed.", ofLevel)
	flowTarget    = flowDesc("target_seats", "Seats that a level should have.", ofLevel)
	flowR         = flowDesc("current_r", "How far a level is: R of KEP-1040.", ofLevel)
	flowFair      = flowDesc("seat_fair_frac", "The fraction of their targets that levels have.")
)

// Describe implements [prometheus.Collector].
func (*flows) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		flowRejected, flowDispatched, flowWaiting, flowWanted, flowExecuting, flowSeats, flowWaited, flowExecuted, flowEstimated, flowLength, flowWatches,
		flowNominal, flowLower, flowUpper, flowLimit, flowHigh, flowAverage, flowDeviation, flowSmoothed, flowTarget, flowR, flowFair,
	} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (f *flows) Collect(to chan<- prometheus.Metric) {
	now := f.now()
	gauge := func(d *prometheus.Desc, n float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, labels...)
	}
	gauge(flowFair, now.Fair)
	for i := range now.Levels {
		l := &now.Levels[i]
		for d, n := range map[*prometheus.Desc]float64{
			flowNominal: float64(l.Nominal), flowLower: float64(l.Min), flowUpper: float64(l.Max), flowLimit: float64(l.Limit),
			flowHigh: l.High, flowAverage: l.Average, flowDeviation: l.Deviation, flowSmoothed: l.Smoothed, flowTarget: l.Target, flowR: l.R,
		} {
			gauge(d, n, l.Name)
		}
		for j := range l.Flows {
			l.Flows[j].collect(to, l.Name)
		}
	}
}

func (f *Flow) collect(to chan<- prometheus.Metric, level string) {
	for d, n := range map[*prometheus.Desc]int{flowWaiting: f.Waiting, flowWanted: f.WaitingSeats, flowExecuting: f.Executing, flowSeats: f.Seats} {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), level, f.Schema)
	}
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		if n > 0 {
			to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), slices.Concat([]string{level, f.Schema}, labels)...)
		}
	}
	histogram := func(d *prometheus.Desc, b *Buckets, bounds []float64, labels ...string) {
		if b.count > 0 {
			to <- b.metric(d, bounds, slices.Concat([]string{level, f.Schema}, labels)...)
		}
	}
	counter(flowDispatched, f.Dispatched)
	for reason, n := range f.Rejected {
		counter(flowRejected, n, reason)
	}
	for i, execute := range []string{"false", "true"} {
		histogram(flowWaited, &f.Waited[i], FlowSeconds, execute)
	}
	for i, kind := range []string{"regular", "watch"} {
		histogram(flowExecuted, &f.Executed[i], FlowSeconds, kind)
	}
	histogram(flowEstimated, &f.Estimated, FlowSeats)
	histogram(flowLength, &f.Length, FlowLengths)
	histogram(flowWatches, &f.Watches, FlowWatches)
}
