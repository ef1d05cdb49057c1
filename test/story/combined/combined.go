// Package combined owns a table of requests that combine what other tables try one
// by one: every subresource with every method, parameters of queries, media types,
// and identities that the one who asks takes on. A generator makes them from a seed.
// kube-apiserver's answers are in test/recorded; test/cmd/record writes them.
//
// It must not know what the answer to a request is.
package combined

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "combined"

// seed is that of the requests.
const seed = 15

// Stories are the requests: for each kind its subresources, and the identities.
func Stories() []story.Story {
	var out []story.Story
	for i, k := range kinds() {
		out = append(out, k.story(generator{rand.New(rand.NewPCG(seed, uint64(i)))}))
	}
	return append(out, custom(generator{rand.New(rand.NewPCG(seed, 100))}), identities(), reviews(generator{rand.New(rand.NewPCG(seed, 101))}))
}

// generator chooses what requests are made of.
type generator struct{ *rand.Rand }

func (g generator) often(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g generator, of []T) T { return of[g.IntN(len(of))] }

// parameters are what queries say, for whichever request.
var parameters = []string{
	"fieldManager=me", "fieldManager=you", "fieldManager=a%0Ab", "fieldManager=", "fieldValidation=Strict", "fieldValidation=Warn", "fieldValidation=Ignore", "fieldValidation=odd",
	"dryRun=All", "dryRun=All", "dryRun=odd", "dryRun=All&dryRun=All", "force=true", "force=false", "force=odd", "resourceVersion=0", "resourceVersion=1", "resourceVersion=odd",
	"resourceVersion=0&resourceVersionMatch=NotOlderThan", "resourceVersion=0&resourceVersionMatch=Exact", "resourceVersionMatch=odd", "limit=1", "limit=-1", "continue=x",
	"propagationPolicy=Orphan", "propagationPolicy=odd", "gracePeriodSeconds=0", "gracePeriodSeconds=odd", "timeout=30s", "timeout=odd", "timeoutSeconds=1", "pretty=true", "labelSelector=a%3Db", "labelSelector=(", "fieldSelector=metadata.name%3Dthere", "fieldSelector=spec.odd%3Da", "includeObject=None", "unknown=1",
}

// accepted are what is asked for; nothing is asked for most often.
var accepted = []string{
	"*/*", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "application/json;as=Table;g=meta.k8s.io;v=v1",
	"application/json;as=Table;g=meta.k8s.io;v=v1beta1", "application/json;as=Table;g=meta.k8s.io;v=v1beta1,application/json", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "application/xml", "text/html, application/json;q=0.5",
}

// disguise decorates a request with a query, a media type to accept and an identity.
func (g generator) disguise(step story.Step) story.Step {
	mark := "?"
	for range g.IntN(3) {
		step.Path += mark + pick(g, parameters)
		mark = "&"
	}
	if step.Method == "GET" || step.Method == "HEAD" { // what a cache holds would be a matter of luck
		step.Path = strings.NewReplacer("resourceVersion=0", "resourceVersion=", "resourceVersion=1", "resourceVersion=").Replace(step.Path)
	}
	if g.often(35) {
		step.Accept = pick(g, accepted)
	}
	if g.often(35) {
		step.Headers = pick(g, disguises)
	}
	return step
}

// number is text of a small number, so that two writes seldom are alike.
func (g generator) number() string { return strconv.Itoa(1 + g.IntN(4)) }
