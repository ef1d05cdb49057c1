package etcd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// statusTimeout is how long one member has to tell its version.
const statusTimeout = 3 * time.Second

// OldServer is why [Open] refuses a cluster: a member whose progress reports
// can run ahead of the events that they speak of. Consistent reads from memory
// rest on them, and so would now and then miss a write.
type OldServer struct {
	// Endpoint is the member's client URL, Version what it says it is.
	Endpoint, Version string
}

// Error says which version is needed.
func (e *OldServer) Error() string {
	return fmt.Sprintf("etcd: %s runs version %s, which can report progress before the events it speaks of; 3.4.25, 3.5.8 or a later one is needed", e.Endpoint, e.Version)
}

// checkVersions refuses members that report progress too early. One that does
// not answer is passed over: a cluster may be short of a member.
func checkVersions(ctx context.Context, client *clientv3.Client, endpoints []string) error {
	var last error
	answered := false
	for _, endpoint := range endpoints {
		status, err := statusOf(ctx, client, endpoint)
		if err != nil {
			last = err
			continue
		}
		answered = true
		if !ordersProgress(status.Version) {
			return &OldServer{Endpoint: endpoint, Version: status.Version}
		}
	}
	if !answered {
		return failed(ctx, fmt.Errorf("no member tells its version: %w", last), "", 0)
	}
	return nil
}

func statusOf(ctx context.Context, client *clientv3.Client, endpoint string) (*clientv3.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	return client.Status(ctx, endpoint)
}

// ordersProgress reports whether a version of etcd sends progress in order
// with events, which was mended in 3.4.25 and 3.5.8. A version that cannot be
// understood is none that was released before that.
func ordersProgress(version string) bool {
	core, _, _ := strings.Cut(version, "-")
	parts := strings.Split(core, ".")
	if len(parts) != 3 {
		return true
	}
	var n [3]int
	for i, part := range parts {
		var err error
		if n[i], err = strconv.Atoi(part); err != nil {
			return true
		}
	}
	switch {
	case n[0] != 3:
		return n[0] > 3
	case n[1] == 4:
		return n[2] >= 25
	case n[1] == 5:
		return n[2] >= 8
	}
	return n[1] > 5
}
