package options

import "time"

// ClusterSigning is how certificates of clients are signed that were asked for by
// CertificateSigningRequests.
type ClusterSigning struct {
	// CertFile and KeyFile are those of the authority; empty means one in DataDir.
	CertFile, KeyFile string
	// Duration is how long a certificate lasts at most.
	Duration time.Duration
}

// leastSigned is the least that Duration may be: a request asks for no less.
const leastSigned = 10 * time.Minute

func (c ClusterSigning) validate(bad func(flag, format string, args ...any)) {
	if (c.CertFile == "") != (c.KeyFile == "") {
		bad("cluster-signing-cert-file", "and --cluster-signing-key-file must be set together")
	}
	if c.Duration < leastSigned {
		bad("cluster-signing-duration", "must be 10 minutes at least, got %s", c.Duration)
	}
}
