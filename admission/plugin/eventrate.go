package plugin

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/lru"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

// usualRates is how many keys a limit remembers unless it says how many.
const usualRates = 4096

// rateLimit is a limit of a Configuration of eventratelimit.admission.k8s.io.
type rateLimit struct {
	Type      string `json:"type"`
	QPS       int32  `json:"qps"`
	Burst     int32  `json:"burst"`
	CacheSize int32  `json:"cacheSize,omitempty"`
}

// eventKeys are what the types of limits count by.
var eventKeys = map[string]func(admission.Attributes) string{
	"Server":    func(admission.Attributes) string { return "" },
	"Namespace": func(a admission.Attributes) string { return a.GetNamespace() },
	"User":      func(a admission.Attributes) string { return a.GetUserInfo().GetName() },
	"SourceAndObject": func(a admission.Attributes) string {
		event := a.GetObject().Object
		source, about := object.Child(event, "source"), object.Child(event, "involvedObject")
		return strings.Join([]string{
			object.TextAt(source, "component"), object.TextAt(source, "host"), object.TextAt(about, "kind"), object.TextAt(about, "namespace"),
			object.TextAt(about, "name"), object.TextAt(about, "uid"), object.TextAt(about, "apiVersion"),
		}, "")
	},
}

// EventRateLimit refuses events that are more than the limits of its configuration
// allow, each for its own time. Those of events.k8s.io it does not count.
type EventRateLimit struct {
	now    func() time.Time
	limits []*eventLimit
}

// eventLimit is one of them.
type eventLimit struct {
	rateLimit
	mu    sync.Mutex
	rates *lru.Cache // of *rate.Limiter by key; guarded by mu
}

// NewEventRateLimit reads a Configuration of eventratelimit.admission.k8s.io/v1alpha1,
// without which there is nothing to do.
func NewEventRateLimit(configuration []byte, now func() time.Time) (*EventRateLimit, error) {
	var read struct {
		metav1.TypeMeta `json:",inline"`
		Limits          []rateLimit `json:"limits"`
	}
	if err := readConfiguration(configuration, &read); err != nil {
		return nil, err
	}
	if configuration != nil {
		if err := is(read.TypeMeta, "eventratelimit.admission.k8s.io"); err != nil {
			return nil, err
		}
	}
	if err := validLimits(read.Limits).ToAggregate(); err != nil {
		return nil, err
	}
	p := &EventRateLimit{now: now}
	for _, l := range read.Limits {
		size := int(l.CacheSize)
		if size == 0 || l.Type == "Server" { // which has one key
			size = usualRates
		}
		p.limits = append(p.limits, &eventLimit{rateLimit: l, rates: lru.New(size)})
	}
	return p, nil
}

func validLimits(limits []rateLimit) (errs field.ErrorList) {
	at := field.NewPath("limits")
	if len(limits) == 0 {
		errs = append(errs, field.Invalid(at, limits, "must not be empty"))
	}
	for i, l := range limits {
		at := at.Index(i)
		if eventKeys[l.Type] == nil {
			errs = append(errs, field.NotSupported(at.Child("type"), l.Type, []string{"Server", "Namespace", "User", "SourceAndObject"}))
		}
		if l.Burst <= 0 {
			errs = append(errs, field.Invalid(at.Child("burst"), l.Burst, "must be positive"))
		}
		if l.QPS <= 0 {
			errs = append(errs, field.Invalid(at.Child("qps"), l.QPS, "must be positive"))
		}
		if l.Type != "Server" && l.CacheSize < 0 {
			errs = append(errs, field.Invalid(at.Child("cacheSize"), l.CacheSize, "must not be negative"))
		}
	}
	return errs
}

// Name implements [admission.Plugin].
func (*EventRateLimit) Name() string { return order.EventRateLimit }

// Validate implements [admission.Validator].
func (p *EventRateLimit) Validate(_ context.Context, a admission.Attributes) error {
	o := a.GetOperation()
	if (o != admission.Create && o != admission.Update) || a.GetKind().GroupKind() != (schema.GroupKind{Kind: "Event"}) || a.IsDryRun() {
		return nil
	}
	var errs []error
	for _, l := range p.limits { // each of them counts, also what another refuses
		if key := eventKeys[l.Type](a); !l.allows(key, p.now()) {
			errs = append(errs, fmt.Errorf("limit reached on type %s for key %s", l.Type, key))
		}
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		return apierrors.NewTooManyRequestsError(err.Error())
	}
	return nil
}

// allows takes one from what is left of a key.
func (l *eventLimit) allows(key string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, known := l.rates.Get(key)
	if !known {
		found = rate.NewLimiter(rate.Limit(l.QPS), int(l.Burst))
		l.rates.Add(key, found)
	}
	return found.(*rate.Limiter).AllowN(now, 1)
}
