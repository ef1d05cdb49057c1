package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
)

// How a list of a history is asked for.
const (
	histNow   = "most recent"
	histAny   = "resourceVersion=0"
	histExact = "resourceVersionMatch=Exact"
	histPages = "in pages"
)

// list reads all objects of a kind at once, and that others are not there.
func (c *histClient) list(path, how string) {
	call := c.h.now()
	l := histList{how: how, values: map[string]string{}}
	query := ""
	switch how {
	case histNow:
		l.atLeast = c.h.acknowledged.Load()
	case histAny:
		query = "?resourceVersion=0"
	case histExact:
		if c.listed[c.kind.letter] == 0 {
			return
		}
		query = fmt.Sprint("?resourceVersionMatch=Exact&resourceVersion=", c.listed[c.kind.letter])
	case histPages:
		l.atLeast = c.h.acknowledged.Load()
		query = "?limit=5"
	}
	if !c.pages(path+query, &l) {
		return
	}
	if was := c.listed[c.kind.letter]; how == histExact && l.rv != was {
		c.h.t.Errorf("a list of exactly %d is of %d", was, l.rv)
	}
	c.listed[c.kind.letter] = l.rv
	c.h.mu.Lock()
	c.h.lists[c.kind.letter] = append(c.h.lists[c.kind.letter], l)
	c.h.mu.Unlock()
	if how != histNow && how != histPages {
		return
	}
	round := (c.h.next.Load() - 1) / histRound
	for i := range histObjects {
		name := fmt.Sprintf("%s%d-%d", c.kind.letter, round, i)
		out := histOutput{histMissing, ""}
		if value, ok := l.values[name]; ok {
			out = histOutput{histDone, value}
		}
		c.h.done(c.id, call, histInput{verb: histRead, name: name}, out)
	}
}

// pages reads a list with all that is left of it, unless a fault comes between.
func (c *histClient) pages(path string, l *histList) bool {
	for at := path; ; {
		r, _ := c.try("GET", at, nil)
		if r == nil || r.Code >= 500 {
			return false
		}
		if r.Code != 200 {
			c.h.t.Errorf("GET %s: %d %s", at, r.Code, r.Body)
			return false
		}
		var page struct {
			Metadata struct{ ResourceVersion, Continue string }
			Items    []histObject
		}
		if err := json.Unmarshal(r.Body, &page); err != nil {
			c.h.t.Errorf("GET %s: %v", at, err)
			return false
		}
		rv, err := strconv.ParseInt(page.Metadata.ResourceVersion, 10, 64)
		if err != nil || l.rv != 0 && rv != l.rv {
			c.h.t.Errorf("GET %s: a page is of %q, the one before of %d", at, page.Metadata.ResourceVersion, l.rv)
		}
		l.rv = rv
		for _, o := range page.Items {
			name, s := o.Metadata.Name, histSeen{o.value(c.kind, c.version), o.Metadata.ResourceVersion}
			if _, twice := l.values[name]; twice {
				c.h.t.Errorf("GET %s: %s is there twice", path, name)
			}
			c.seen[name], l.values[name] = s, s.value
			c.h.tell(c.kind, name, s)
		}
		if page.Metadata.Continue == "" {
			return true
		}
		at = path + "&continue=" + url.QueryEscape(page.Metadata.Continue)
	}
}
