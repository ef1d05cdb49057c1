package metrics

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Access is about who asks, and whether they may: kube-apiserver's names, labels and buckets.
type Access struct {
	users                 *prometheus.CounterVec
	known                 sync.Map // of names, the counters of users
	authenticated         [authenticationResults]attempts
	authorized            [decisions]attempts
	certificateExpiration prometheus.Observer
}

// Authentication is what became of an attempt to find out who asks.
type Authentication int

// What can become of it.
const (
	AuthenticationSuccess Authentication = iota
	// AuthenticationFailure: nobody knows what was shown.
	AuthenticationFailure
	// AuthenticationError: what was shown is wrong.
	AuthenticationError
	authenticationResults
)

// Decision is the answer to whether somebody may do something.
type Decision int

// The answers.
const (
	Allowed Decision = iota
	// NoOpinion: nothing allows it.
	NoOpinion
	// DecisionError: the question could not be answered.
	DecisionError
	decisions
)

// attempts are counted and timed.
type attempts struct {
	count prometheus.Counter
	took  prometheus.Observer
}

func (a *attempts) add(seconds float64) {
	a.count.Inc()
	a.took.Observe(seconds)
}

func newAccess(m *Metrics) *Access {
	buckets := prometheus.ExponentialBuckets(0.001, 2, 15)
	a := &Access{users: m.counters("authenticated_user_requests", "Requests of somebody who is known, by a name that many have.", "username")}
	count := m.counters("authentication_attempts", "Attempts to find out who asks, by what became of them.", "result")
	took := m.histograms("authentication_duration_seconds", "Time to find out who asks.", buckets, "result")
	for i, result := range []string{"success", "failure", "error"} {
		a.authenticated[i] = attempts{count.WithLabelValues(result), took.WithLabelValues(result)}
	}
	count = m.counters("authorization_attempts_total", "Questions whether somebody may do something, by the answer.", "result")
	took = m.histograms("authorization_duration_seconds", "Time to find out whether somebody may do something.", buckets, "result")
	for i, result := range []string{"allowed", "no-opinion", "error"} {
		a.authorized[i] = attempts{count.WithLabelValues(result), took.WithLabelValues(result)}
	}
	a.certificateExpiration = m.histograms("apiserver_client_certificate_expiration_seconds", "Time for which client certificates that were shown are still valid.",
		[]float64{0, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 345600, 604800, 2592000, 7776000, 15552000, 31104000}).WithLabelValues()
	return a
}

// Authenticated counts an attempt, and whose request it is if that is known.
func (a *Access) Authenticated(result Authentication, user string, seconds float64) {
	a.authenticated[result].add(seconds)
	if result == AuthenticationSuccess {
		name := shared(user)
		count, ok := a.known.Load(name)
		if !ok {
			count, _ = a.known.LoadOrStore(name, a.users.WithLabelValues(name))
		}
		count.(prometheus.Counter).Inc()
	}
}

// Authorized counts an answer.
func (a *Access) Authorized(d Decision, seconds float64) { a.authorized[d].add(seconds) }

// CertificateShown tells for how long a client certificate is still valid, which may be
// negative.
func (a *Access) CertificateShown(secondsLeft float64) { a.certificateExpiration.Observe(secondsLeft) }

// shared is a name as kube-apiserver tells it: names of people and programs are no labels.
func shared(user string) string {
	switch user {
	case "admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default":
		return user
	}
	if strings.Contains(user, "@") {
		return "email_id"
	}
	return "other"
}
