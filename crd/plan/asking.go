package plan

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// patience is how long all rules about one object may take together. Rules about items
// look at other items, and clients send tens of thousands.
var patience = 5 * time.Second

// asking is the time in which the rules of an object are asked. It is done when that is
// over.
type asking struct {
	context.Context
	said bool
	// texts are those at spots in objects around.
	texts map[listed]map[string]bool
	// lists are the items there.
	lists map[listed]*items
}

// newAsking begins it, within that of the write; end has to be called.
func newAsking(ctx context.Context) (a *asking, end func()) {
	ctx, end = context.WithTimeout(ctx, patience)
	return &asking{Context: ctx}, end
}

func (a *asking) over() bool { return a.Err() != nil }

// say is the refusal of what was not judged, once.
func (a *asking) say(path *field.Path) *field.Error {
	if a.said {
		return nil
	}
	a.said = true
	err := field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("its rules took longer than %s, and no further ones were asked: send fewer items, or try again when there is less to do", patience))
	return err.WithOrigin(unasked)
}

// unasked is the origin of what is said of rules that were not asked.
const unasked = "unasked"

// Unasked is how many of the errors only say that not all rules were asked. Where there
// are no others nobody knows that anything is wrong.
func Unasked(errs field.ErrorList) (n int) {
	for _, err := range errs {
		if err.Origin == unasked {
			n++
		}
	}
	return n
}
