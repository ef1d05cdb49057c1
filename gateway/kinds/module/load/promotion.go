package load

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// awaitingPromotion is the reason of the condition Compiled while a revision waits.
const awaitingPromotion = "AwaitingPromotion"

// promotion is the value of [PromotedAnnotation].
type promotion struct {
	revision    string
	differences int64 // that are accepted
	force       bool
}

// promotionOf reads the annotation. What it cannot read accepts nothing.
func promotionOf(obj *unstructured.Unstructured) (p promotion) {
	revision, accepts, _ := strings.Cut(obj.GetAnnotations()[module.PromotedAnnotation], "/")
	p.revision, p.force = revision, accepts == "force"
	if count, ok := strings.CutPrefix(accepts, "differences="); ok {
		p.differences, _ = strconv.ParseInt(count, 10, 64) // 0 accepts none
	}
	return p
}

// lacks is why a promotion does not let a candidate with that report serve, ""
// when it does.
func (p promotion) lacks(r *module.Report) string {
	switch {
	case p.force:
		return ""
	case !r.Ended():
		return "it was promoted, and comes into use when its trial has ended without a difference"
	case r.State != module.Completed || r.Failed > 0:
		return "it was promoted, but its trial failed: promote it with --force"
	case r.Different != p.differences:
		return fmt.Sprintf("it was promoted with %d differences accepted, but there are %d: promote it with --accept-differences", p.differences, r.Different)
	}
	return ""
}

// hold refuses a revision that has to be promoted first. The first revision of a
// module has nothing to be compared with, and what was let serve last may serve
// again; what served and cannot any more, as it is lost from the store, lets
// nothing else serve by itself. A promotion is about one candidate, and spent
// when that serves.
func (c *Controller) hold(obj *unstructured.Unstructured, rev plugins.Revision) *module.Refusal {
	if !module.Promotes(obj) {
		return nil
	}
	name, status := module.RevisionName(rev), module.StatusOf(obj)
	accepted := acceptedRevision(obj, status)
	if accepted == "" || accepted == name {
		return nil
	}
	var says []string
	if c.serving(obj.GetName()).Serving == nil {
		says = append(says, fmt.Sprintf("content %s, which was in use, cannot be loaded, so there is nothing to compare with", servedBefore(obj)))
	}
	says = append(says, fmt.Sprintf("revision %s of content %s waits", name, rev.Digest))
	if candidate := status.Candidate; candidate.Is(name) {
		if candidate.Report.Ended() {
			says = append(says, "its trial: "+candidate.Report.Message)
		}
		if p := promotionOf(obj); p.revision == candidate.Revision {
			lacks := p.lacks(candidate.Report)
			if lacks == "" {
				return nil
			}
			says = append(says, lacks)
		}
	}
	return &module.Refusal{Reason: awaitingPromotion, Message: fmt.Sprintf("%s; see status.candidate, and put it into use with: wasmgate module promote %s", strings.Join(says, "; "), obj.GetName())}
}

// unknownRevision is the name of a revision that served, and of which nothing
// else is known.
const unknownRevision = "unknown"

// acceptedRevision is the name of the revision that was let serve last, "" for
// none. What an earlier gateway wrote does not name it.
func acceptedRevision(obj *unstructured.Unstructured, status module.Status) string {
	if status.Accepted != "" {
		return status.Accepted
	}
	if last, ok := module.LastGood(obj); ok {
		return module.RevisionName(last)
	}
	if module.ServedLast(obj) != "" {
		return unknownRevision
	}
	return ""
}

// servedBefore is the digest of the content that served before nothing did.
func servedBefore(obj *unstructured.Unstructured) string {
	if last, ok := module.LastGood(obj); ok {
		return last.Digest
	}
	return module.ServedLast(obj)
}
