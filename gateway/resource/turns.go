package resource

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Turns are of those who work on what is large, so that what is small does not have to
// wait for too much of it at once. Work in a turn waits for nobody.
type Turns interface {
	// Take waits for a turn as a user, until ctx ends.
	Take(ctx context.Context, user string) error
	// Give gives it back.
	Give()
}

// InTurn does work of a caller in a turn; where there are none, nil, at once. It fails
// with a Timeout, and has not done it, if ctx ends first.
func InTurn(ctx context.Context, turns Turns, as Caller, work func() error) error {
	if turns == nil {
		return work()
	}
	user := ""
	if as.User != nil {
		user = as.User.Name
	}
	if err := turns.Take(ctx, user); err != nil {
		return apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
	}
	defer turns.Give()
	return work()
}
