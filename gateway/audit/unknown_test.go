package audit

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// from is a refused request of somebody from an address, nil for nobody known.
func from(ip string, by *authn.User, code int) *api.Audit {
	a := record("one")
	a.Request.Remote, a.User, a.Code, a.Status, a.Annotations = &net.TCPAddr{IP: net.ParseIP(ip), Port: 7}, by, code, nil, nil
	return a
}

// flooded is a trail with a bound, and what it wrote into its file and its log.
func flooded(t *testing.T, most int, flood func(*Trail)) (c *counts, lines []string, log string) {
	t.Helper()
	c = &counts{}
	var said bytes.Buffer
	path := filepath.Join(t.TempDir(), "audit.log")
	trail, err := Open(Config{File: &File{Path: path, Format: FormatJSON, Passing: Passing{Mode: Blocking}}, Metrics: c, Unknown: most, Log: zerolog.New(&said)})
	if err != nil {
		t.Fatal(err)
	}
	flood(trail)
	if err := trail.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return c, strings.Split(strings.TrimSpace(string(text)), "\n"), said.String()
}

// Of refused requests of nobody known some are kept in a minute, and fewer of one network;
// how many were not is counted and told, by an event and by the log.
func TestEventsOfNobodyKnownAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, lines, log := flooded(t, 8, func(trail *Trail) {
			for range 10 { // two are one network's
				if !trail.Audit(from("10.0.0.1", nil, 400)) {
					t.Error("a request has to wait for an event that is left out")
				}
			}
			trail.Audit(from("2001:db8::1", authn.AnonymousUser(), 401))
			trail.Audit(from("2001:db8::2", authn.AnonymousUser(), 403))
			trail.Audit(from("2001:db8::3", authn.AnonymousUser(), 403))
			for _, other := range []string{"10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"} {
				trail.Audit(from(other, nil, 401))
			}
			for range 20 { // who is known, and who is let in
				trail.Audit(from("10.0.0.1", &authn.User{Name: "ann"}, 403))
				trail.Audit(from("10.0.0.1", authn.AnonymousUser(), 200))
			}
			<-time.After(unknownWindow)
			synctest.Wait()
			trail.Audit(from("10.0.0.1", nil, 400))
		})
		if len(lines) != 8+40+1+1 || c.left != 10 || c.events != len(lines) {
			t.Errorf("%d lines, %d left out, %d events", len(lines), c.left, c.events)
		}
		said := 0
		for _, line := range lines {
			if strings.Contains(line, `"annotations":{"audit.wasmgate.dev/left-out":"10","audit.wasmgate.dev/left-out-from":"10.0.0.1/32=8,10.0.0.6/32=1,2001:db8::/64=1"}`) &&
				strings.Contains(line, `"code":429`) && strings.Contains(line, "10 events of requests of nobody known, which were refused, were left out") {
				said++
			}
		}
		if said != 1 || strings.Count(log, "were left out") != 1 || !strings.Contains(log, `"events":10`) {
			t.Errorf("told %d times\n%s\n%s", said, strings.Join(lines, "\n"), log)
		}
	})
}

// Who floods from several networks leaves some room for the first events of others, which are
// fewer where the bound is small.
func TestFirstEventsOfOthersAreKept(t *testing.T) {
	for _, bound := range []struct{ most, share, first, others int }{{400, 100, 10, 9}, {80, 20, 5, 3}, {20, 5, 1, 4}} {
		c, lines, _ := flooded(t, bound.most, func(trail *Trail) {
			for network := range 4 {
				for range bound.most {
					trail.Audit(from(fmt.Sprintf("10.0.0.%d", network), nil, 400))
				}
			}
			for other := range bound.others {
				for range bound.first + 1 {
					trail.Audit(from(fmt.Sprintf("10.0.1.%d", other), nil, 401))
				}
			}
		})
		all := strings.Join(lines[:len(lines)-1], "\n") // the last one tells what was left out
		if sent := 4*bound.most + bound.others*(bound.first+1); len(lines) != bound.most+1 || c.left != sent-bound.most {
			t.Errorf("of %d at most: %d lines, %d of %d left out", bound.most, len(lines), c.left, sent)
		}
		for network, want := range map[string]int{"10.0.0.0": bound.share, "10.0.0.1": bound.share, "10.0.0.2": bound.share, "10.0.0.3": bound.first, "10.0.1.0": bound.first, fmt.Sprint("10.0.1.", bound.others-1): bound.first} {
			if n := strings.Count(all, `"`+network+`"`); n != want {
				t.Errorf("of %d at most: %d events of %s, want %d", bound.most, n, network, want)
			}
		}
	}
}

// What was left out last is told at the end; without a bound nothing is.
func TestWhatIsLeftOutIsToldAtTheEnd(t *testing.T) {
	flood := func(trail *Trail) {
		for range 5 {
			trail.Audit(from("10.0.0.1", nil, 400))
		}
	}
	c, lines, _ := flooded(t, 3, flood)
	if len(lines) != 2 || c.left != 4 || !strings.Contains(lines[1], `"audit.wasmgate.dev/left-out":"4"`) {
		t.Errorf("%d left out\n%s", c.left, strings.Join(lines, "\n"))
	}
	if c, lines, log := flooded(t, 0, flood); len(lines) != 5 || c.left != 0 || log != "" {
		t.Errorf("%d lines, %d left out, %s", len(lines), c.left, log)
	}
}

// Of many networks those are told that most was of.
func TestNetworksThatAreTold(t *testing.T) {
	u := unknown{most: 1, tell: func(l leftOut) {
		if len(l.from) != mostNetworks || l.all != mostNetworks+10 || strings.Count(l.networks(), "=") != toldNetworks+1 || !strings.HasPrefix(l.networks(), "10.0.1.1/32=2,10.0.0.1/32=1,") || !strings.HasSuffix(l.networks(), fmt.Sprint(",others=", mostNetworks+10-toldNetworks-1)) {
			t.Errorf("%d of %d networks: %s", l.all, len(l.from), l.networks())
		}
	}}
	for i := range mostNetworks + 10 {
		u.leavesOut(from(net.IPv4(10, 0, byte(i>>8), byte(i)).String(), nil, 400))
	}
	u.leavesOut(from("10.0.1.1", nil, 400))
	u.flush()
}
