package image

import "strings"

// hostOf is the registry of an image.
func hostOf(image string) string {
	host, _, _ := strings.Cut(image, "/")
	return host
}

// enter lets an image be fetched, and tells whether it may be now. Registries that
// took as long as they may share one worker until they do better, so that they
// hold up each other, and no others.
func (c *Controller) enter(host string) (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.slow[host] {
		return func() {}, true
	}
	if c.lane {
		return nil, false
	}
	c.lane = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.lane = false
	}, true
}

// judge remembers how a registry did.
func (c *Controller) judge(host string, refusal *Refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if refusal == nil || !refusal.Slow {
		delete(c.slow, host)
		return
	}
	if len(c.slow) >= maxSlow {
		clear(c.slow) // and learn again
	}
	c.slow[host] = true
}
