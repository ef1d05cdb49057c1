package componentstatus

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// probeTimeout is how long a component may take to answer.
	probeTimeout = 20 * time.Second
	// maxAnswer is how much of what it says is repeated.
	maxAnswer = 10 << 10
)

// prober asks components of this host. Their certificates are their own, so they
// prove nothing; a component is told nothing either. One connection is made for
// each question, and where an answer points to nobody goes.
var prober = &http.Client{
	Timeout: probeTimeout,
	Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// probe asks a component at a URL how it is.
func probe(url string) func(ctx context.Context) health {
	return func(ctx context.Context) health {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return health{corev1.ConditionUnknown, "", err.Error()}
		}
		resp, err := prober.Do(req)
		if err != nil {
			return health{corev1.ConditionFalse, err.Error(), ""}
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err != nil {
			return health{corev1.ConditionUnknown, "", err.Error()}
		}
		text := strings.ToValidUTF8(string(said), "\uFFFD")
		switch code := resp.StatusCode; {
		case code >= 200 && code < 300:
			return health{corev1.ConditionTrue, text, ""}
		case code >= 300 && code < 400:
			return health{corev1.ConditionUnknown, "it answers from elsewhere: " + text, ""}
		default:
			return health{corev1.ConditionFalse, fmt.Sprintf("HTTP probe failed with statuscode: %d", code), ""}
		}
	}
}
