package shadow

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// waits reports why a trial cannot begin, and returns that to be tried again.
func (c *Controller) waits(ctx context.Context, t *trial, why error) error {
	if ctx.Err() != nil {
		return why
	}
	t.report = module.Report{State: module.Running, Message: gvr.Shorten("it cannot be tried yet: " + why.Error())}
	if err := ignoreSuperseded(c.write(ctx, t)); err != nil {
		return err
	}
	return why
}

// finish writes the last report. A conflict is tried again here, not by trying
// the candidate again, for some minutes: who is refused for longer is refused by
// somebody, and others wait.
func (c *Controller) finish(ctx context.Context, t *trial) error {
	var err error
	pause := conflictPause
	for range finishAttempts {
		if err = c.write(ctx, t); !apierrors.IsConflict(err) {
			break
		}
		if !controller.Pause(ctx, pause) {
			return ctx.Err()
		}
		pause = min(2*pause, interval)
	}
	if apierrors.IsConflict(err) {
		return fmt.Errorf("write the report on module %q: %v", t.name, err) // as no conflict, which would be tried again at once
	}
	return ignoreSuperseded(err)
}

// ignoreSuperseded returns err, or nil for one that says that the candidate waits
// no more.
func ignoreSuperseded(err error) error {
	if errors.Is(err, errSuperseded) {
		return nil
	}
	return err
}

// write puts a report, which may be about a part: a conflict leaves it to the
// next one then.
func (c *Controller) write(ctx context.Context, t *trial) error {
	err := c.put(ctx, t)
	if apierrors.IsConflict(err) && t.report.State == module.Running {
		return nil
	}
	return err
}

// put puts the report into the status, unless the candidate is another by now, or
// its trial has ended.
func (c *Controller) put(ctx context.Context, t *trial) error {
	obj, err := c.objects.Get(ctx, gvr.Modules, "", t.name)
	if err != nil {
		return err
	}
	if candidate, _, ok := module.CandidateOf(obj, c.content.Digest); !ok || candidate.Revision != t.revision || candidate.Report.Ended() {
		return errSuperseded
	}
	if err := module.SetReport(obj, t.report); err != nil {
		return err
	}
	if _, err := c.objects.Update(ctx, gvr.Modules, "status", obj); err != nil {
		return err
	}
	t.written = time.Now()
	return nil
}
