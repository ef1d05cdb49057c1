package oci

import (
	"net/http"
	"strings"

	"oras.land/oras-go/v2/registry"
)

// place is where an image is asked for.
type place struct {
	ref registry.Reference
	// by makes the requests; nil for the usual one.
	by http.RoundTripper
	// mirror is its location, "" where the image's own registry is asked.
	mirror string
}

// places are where an image is asked for, in order.
func (r *Registries) places(ref registry.Reference) (all []place, err error) {
	name := spelled(ref.Registry + "/" + ref.Repository)
	row := r.find(name)
	if row == nil {
		return []place{{ref: ref}}, nil
	}
	rest := strings.TrimPrefix(name, row.prefix)
	_, notDigest := ref.Digest()
	for _, m := range row.mirrors {
		if m.digestOnly && notDigest != nil {
			continue
		}
		there, err := registry.ParseReference(m.location + rest)
		if err != nil {
			return nil, failure(PullFailed, "its name at the mirror %s, %s, is none: %v", m.location, m.location+rest, err)
		}
		there.Reference = ref.Reference
		all = append(all, place{there, m.by, m.location})
	}
	if !row.blocked {
		all = append(all, place{ref: ref, by: row.itself})
	}
	if len(all) == 0 {
		return nil, failure(RegistryBlocked, "%s is blocked by the file of --module-registries-file, and no mirror there is for it", row.prefix)
	}
	return all, nil
}

// spelled is the name of a repository, or the beginning of one, in the one spelling of its
// host by which rows are found: however that is written, the same registry is asked.
func spelled(name string) string {
	host, path, below := strings.Cut(name, "/")
	host = strings.TrimSuffix(strings.ToLower(host), ":443")
	if at := strings.LastIndexByte(host, ':'); at > 0 && host[at-1] == '.' { // the root of all names
		host = host[:at-1] + host[at:]
	}
	host = strings.TrimSuffix(host, ".")
	if host == "index.docker.io" || host == "registry-1.docker.io" {
		host = "docker.io"
	}
	if below {
		return host + "/" + path
	}
	return host
}

// find is the row with the longest prefix of a name; nil for none.
func (r *Registries) find(name string) (found *registryRow) {
	if r == nil || r.now.Load() == nil {
		return nil
	}
	rows := r.now.Load().rows
	for i := range rows {
		rest, ok := strings.CutPrefix(name, rows[i].prefix)
		if ok && strings.HasPrefix(rest, "/") && (found == nil || len(rows[i].prefix) > len(found.prefix)) {
			found = &rows[i]
		}
	}
	return found
}
