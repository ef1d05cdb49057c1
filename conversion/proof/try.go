package proof

import (
	"context"
	"errors"
	"fmt"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
)

// Try looks for what a converter loses of one object, between its version and each
// other. The error is that it is not valid at its version, or that of a conversion
// which says nothing of the converter.
func Try(ctx context.Context, d *crd.Definition, c conversion.Converter, obj map[string]any, o Options) (losses []Loss, err error) {
	apiVersion, _ := obj["apiVersion"].(string)
	from := d.At(apiVersion)
	if from == nil {
		return nil, fmt.Errorf("%s.%s has no version %q", d.Plural, d.Group, apiVersion)
	}
	made, errs := end{from, apiVersion}.accepted(obj)
	if made == nil {
		if len(errs) > 0 {
			return nil, errs.ToAggregate()
		}
		return nil, errors.New("the object cannot be read at its version")
	}
	c = conversion.Checked(c)
	for _, p := range pairsFrom(d, from.Name) {
		s, err := newSearch(d, c, p, o)
		if err != nil {
			return losses, err
		}
		s.each(ctx, made)
		losses = append(losses, s.losses...)
		if err := errors.Join(s.problem, ctx.Err()); err != nil {
			return losses, fmt.Errorf("%s: %w", p, err)
		}
	}
	return losses, nil
}
