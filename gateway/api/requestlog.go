package api

import "time"

// logged has the end of a request write a line at the level debug, which -v 4
// shows.
func (h *Handler) logged(c *call, end func(code int)) func(code int) {
	if !h.Log.Debug().Enabled() {
		return end
	}
	began := time.Now()
	return func(code int) {
		end(code)
		user := ""
		if c.caller.User != nil {
			user = c.caller.User.Name
		}
		h.Log.Debug().Str("verb", c.Verb).Str("path", c.Request.Path).Str("query", c.Query).Str("user", user).
			Str("agent", c.UserAgent).Int("code", code).Dur("ms", time.Since(began)).Str("request", c.ID).Msg("request answered")
	}
}
