package metrics

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestClientsAreCountedByVersion(t *testing.T) {
	c := newClients()
	for range 3 {
		c.Asked("example.com", "v1beta1", "crontabs", "alice", "kubectl/v1")
	}
	c.Asked("example.com", "v1", "crontabs", "alice", "kubectl/v1")
	c.Asked("example.com", "v1", "crontabs", "alice", "operator")
	c.Asked("other.com", "v1", "crontabs", "bob", "x")
	all, since := c.Of("example.com", "crontabs")
	var got []string
	for _, k := range all {
		if k.Last.Before(since) {
			t.Errorf("%+v is from before %v", k, since)
		}
		got = append(got, fmt.Sprintf("%s %s %s %d", k.Version, k.User, k.Agent, k.Requests))
	}
	if s := strings.Join(got, ", "); s != "v1 alice kubectl/v1 1, v1 alice operator 1, v1beta1 alice kubectl/v1 3" {
		t.Error(s)
	}
}

// Nobody makes the gateway remember more than there is room for, and nothing that was
// asked is left out of the sum.
func TestClientsAreBounded(t *testing.T) {
	c := newClients()
	const each = 500
	var wg sync.WaitGroup
	for user := range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range each {
				c.Asked("g", "v1", "r", fmt.Sprint("u", user), strings.Repeat("x", 2*maxClientName)+fmt.Sprint(n))
				c.Asked("g", "v1", "r", fmt.Sprint("u", user), fmt.Sprint(n))
			}
		}()
	}
	wg.Wait()
	for n := range 2 * MaxClients {
		c.Asked("g", "v1", "r", fmt.Sprint("n", n), "")
	}
	if most := MaxClients + 1; len(c.counts) > most || len(c.agents) > most {
		t.Errorf("%d and %d are remembered", len(c.counts), len(c.agents))
	}
	all, _ := c.Of("g", "r")
	sum, agents, others := int64(0), 0, false
	for _, k := range all {
		sum += k.Requests
		if k.User == "u3" {
			agents++
		}
		others = others || k.User == OtherClients
		if len(k.Agent) > maxClientName {
			t.Errorf("an agent of %d bytes", len(k.Agent))
		}
	}
	if sum != 20*2*each+2*MaxClients || agents != MaxAgents+1 || !others {
		t.Errorf("%d requests, %d agents, others %v", sum, agents, others)
	}
}
