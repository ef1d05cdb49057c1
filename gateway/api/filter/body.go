package filter

import (
	"context"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// body reads the body of a request that has a meaning for one. What somebody sends
// who may not do what is asked for, or along with a question, never gets into
// memory. What is decoded later is weighed.
func body(most int, routes *api.Routes) api.Filter {
	return func(next api.Serve) api.Serve {
		return func(ctx context.Context, c *api.Call) *reply.Response {
			if err := readBody(c, most, routes); err != nil {
				return reply.Error(err)
			}
			return next(ctx, c)
		}
	}
}

func readBody(c *api.Call, most int, routes *api.Routes) (err error) {
	read := c.ReadBody
	c.ReadBody = nil
	if read == nil || !c.Resource || !hasBody(c.Verb) {
		return nil
	}
	if content := routes.Content(&c.Info); content != nil {
		c.Body, err = read(content.MaxBytes())
		return err
	}
	if c.Body, err = read(most); err != nil {
		return err
	}
	return c.Weigh()
}

// hasBody tells the verbs whose requests have one.
func hasBody(verb string) bool {
	switch verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}
