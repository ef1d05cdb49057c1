package healthy

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// The reasons of the condition, beside [module.NoCalls].
const (
	callsFail    = "CallsFail"
	callsSucceed = "CallsSucceed"
)

// judge is the condition that goes with what all gateways say; nil for the one
// that there is. well tells that calls are answered at this one.
func judge(calls module.Calls, well bool, before *metav1.Condition, name string) *metav1.Condition {
	switch {
	case len(calls.Failing) > 0:
		return &metav1.Condition{Status: metav1.ConditionFalse, Reason: callsFail, Message: told(calls.Failing) + "; see: wasmgate module logs " + name}
	case well:
		return &metav1.Condition{Status: metav1.ConditionTrue, Reason: callsSucceed, Message: "calls are answered"}
	case before != nil && before.Status == metav1.ConditionFalse:
		return &metav1.Condition{Status: metav1.ConditionUnknown, Reason: module.NoCalls, Message: "no call was made since those that failed"}
	}
	return nil
}

// told says what gateways say.
func told(failing []module.FailingCalls) string {
	var calls, failed int64
	var where []string
	since, last := failing[0].Since, failing[0]
	for _, f := range failing {
		calls, failed = calls+f.Calls, failed+f.Failed
		where = append(where, f.Gateway)
		if f.Since.Before(&since) {
			since = f.Since
		}
		if last.Updated.Before(&f.Updated) {
			last = f
		}
	}
	return fmt.Sprintf("%d of %d calls failed since %s at %s; the last one, of %s: %s",
		failed, calls, since.UTC().Format(time.RFC3339), strings.Join(where, ", "), last.Hook, last.Reason)
}

func byGateway(a, b module.FailingCalls) int { return cmp.Compare(a.Gateway, b.Gateway) }
