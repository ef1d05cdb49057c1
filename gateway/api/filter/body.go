package filter

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// body reads the body of a request that has a meaning for one. What somebody sends
// who may not do what is asked for, or along with a question, never gets into
// memory. What is decoded later is weighed.
func body(most int) api.Filter {
	return func(next api.Serve) api.Serve {
		return func(ctx context.Context, c *api.Call) *reply.Response {
			if err := readBody(c, most); err != nil {
				return reply.Error(err)
			}
			return next(ctx, c)
		}
	}
}

func readBody(c *api.Call, most int) (err error) {
	read, open := c.ReadBody, c.OpenBody
	c.ReadBody, c.OpenBody = nil, nil
	if read == nil || !c.PassedOn() && (!c.Resource || !hasBody(c.Verb)) {
		return nil
	}
	if c.PassedOn() {
		if open != nil {
			c.Coming, c.Length, err = open(most)
			return err
		}
		c.Body, err = read(most)
		return err
	}
	if content := c.Content(); content != nil {
		c.Body, err = read(content.MaxBytes())
		return err
	}
	if c.Body, err = read(most); err != nil {
		return err
	}
	return weigh(c)
}

// weigh takes the memory that the body of c will take once it is decoded from what
// there is for all requests: a few bytes of YAML are a kilobyte then. It refuses what
// would take so much that hardly anything were left for others.
func weigh(c *api.Call) error {
	n := c.Sent().Weight()
	if err := take(c, n, n); err != nil {
		return err
	}
	more := c.Sent().Aliased()
	return take(c, more, n+more)
}

// take takes n bytes of memory for the body of c, which needs whole in all.
func take(c *api.Call, n, whole int) error {
	if most := c.Stay.Most(); most > 0 && whole > most {
		return c.Sent().TooHeavy(whole, most)
	}
	if c.Stay.Take(n) {
		return nil
	}
	return apierrors.NewTooManyRequests("decoding the bodies of other requests takes all the memory there is for it", reply.RetryAfter)
}

// hasBody tells the verbs whose requests have one.
func hasBody(verb string) bool {
	switch verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}
