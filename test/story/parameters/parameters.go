// Package parameters owns a table of the parameters that a query can have, for
// every verb: absent values, empty ones, two of them, values of another type and
// spellings that are nearly right. kube-apiserver's answers are in test/recorded;
// test/cmd/record writes them.
//
// It must not know what the answer to a request is.
package parameters

import (
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "parameters"

// parameter is one that kube-apiserver reads, with values that mean something.
type parameter struct {
	name   string
	values []string
	// also is the type's own nonsense.
	also []string
}

var (
	integers = []string{"-1", "0", "1.5", "0x1", "%2B1", "1e3", "01", "99999999999999999999", "9223372036854775807"}
	booleans = []string{"TRUE", "False", "t", "F", "1", "0", "yes", "no", "2"}
)

var all = []parameter{
	{name: "dryRun", values: []string{"All"}, also: []string{"None", "all", "true", "All,All"}},
	{name: "fieldValidation", values: []string{"Strict", "Warn", "Ignore"}, also: []string{"strict", "true"}},
	{name: "fieldManager", values: []string{"me"}, also: []string{strings.Repeat("m", 128), strings.Repeat("m", 129), strings.Repeat("%C3%A4", 64), "a%0Ab", "a%7Fb", "%20", "%E2%80%8B", "a%2Fb", "%FF"}},
	{name: "force", values: []string{"true", "false"}, also: booleans},
	{name: "pretty", values: []string{"true", "false"}, also: booleans},
	{name: "watch", values: []string{"true", "false"}, also: booleans},
	{name: "limit", values: []string{"1"}, also: integers},
	{name: "continue", values: []string{"x"}, also: []string{"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0", "eyJ2IjoidjkifQ", "e30", "e30%3D", "%00"}},
	{name: "resourceVersion", values: []string{"0"}, also: []string{"-1", "1.5", "0x1", "%2B0", "00", "18446744073709551616"}},
	{name: "resourceVersionMatch", values: []string{"NotOlderThan", "Exact"}, also: []string{"exact", "Exact&resourceVersion=0", "NotOlderThan&resourceVersion=0", "NotOlderThan&resourceVersion=", "&resourceVersion=0", "NotOlderThan&continue=x"}},
	{name: "timeoutSeconds", values: []string{"5"}, also: integers},
	{name: "allowWatchBookmarks", values: []string{"true", "false"}, also: booleans},
	{name: "sendInitialEvents", values: []string{"true&resourceVersionMatch=NotOlderThan", "true", "false"}, also: append([]string{"&resourceVersionMatch=NotOlderThan", "false&resourceVersionMatch=NotOlderThan", "true&resourceVersionMatch=Exact", "true&resourceVersionMatch=NotOlderThan&resourceVersion=x", "true&resourceVersionMatch=NotOlderThan&limit=1"}, booleans...)},
	{name: "labelSelector", values: []string{"table%3Dyes"}, also: []string{"table", "!table", "table%3D%3Dyes", "table!%3Dyes", "table+in+(yes)", "table+in+yes", "table+notin+(yes,)", "a%3Eb", "table%3Dyes,", ",", "a%3Db%3Dc", "A_%3D-", "a%2Fb%2Fc", "(", "table+in+()"}},
	{name: "fieldSelector", values: []string{"metadata.name%3Dthere"}, also: []string{"metadata.name", "metadata.name%3D%3Dthere", "metadata.name!%3Dthere", "metadata.name%3Dthere,", "metadata.name%3Dthere,metadata.name%3Dother", "spec.x%3Dy", ",", "%3D", "metadata.name%3D", "metadata.name%3D%5C", "metadata.namespace%3Dx", "metadata.name+in+(there)"}},
	{name: "propagationPolicy", values: []string{"Background", "Foreground", "Orphan"}, also: []string{"background", "Orphan&orphanDependents=true", "&orphanDependents=false"}},
	{name: "orphanDependents", values: []string{"true", "false"}, also: booleans},
	{name: "gracePeriodSeconds", values: []string{"0", "1"}, also: integers},
	{name: "timeout", values: []string{"30s"}, also: []string{"30", "-1s", "0", "0s", "1h", "10000000h", "1.5s", "s", "30S", "-0", "1m30s"}},
	{name: "ignoreStoreReadErrorWithClusterBreakingPotential", values: []string{"true", "false"}, also: append([]string{"true&gracePeriodSeconds=0", "true&propagationPolicy=Orphan", "true&dryRun="}, booleans...)},
	{name: "shardSelector", values: []string{"x"}, also: []string{"shardRange(object.metadata.uid,'0x0','0x8000000000000000')"}},
	{name: "includeObject", values: []string{"None", "Metadata", "Object"}, also: []string{"none"}},
	{name: "includeUninitialized", values: []string{"true"}},
	{name: "export", values: []string{"true"}},
	{name: "unknown", values: []string{"x"}},
}

// unreadable are ends of a query that are not what a query may be.
var unreadable = []string{"=All;x=1", "=%zz"}

// spellings are the ends of a query that say a parameter in all ways.
func (p parameter) spellings() []string {
	good := p.values[0]
	out := []string{p.name + "=", p.name, p.name + "=odd", p.name + "=%20" + good, p.name + "=" + good + "%20", p.name + "=" + good + "&" + p.name + "=odd", p.name + "=odd&" + p.name + "=" + good,
		p.name + "=" + good + "&" + p.name + "=" + good, p.name + "=&" + p.name + "=" + good, p.name + "=" + good + "&" + p.name + "=", strings.ToUpper(p.name[:1]) + p.name[1:] + "=" + good, p.name + "[]=" + good,
		strings.Replace(p.name, p.name[1:2], "%"+hex(p.name[1]), 1) + "=" + good}
	for _, v := range slices.Concat(p.values, p.also) {
		out = append(out, p.name+"="+v)
	}
	if p.name == "dryRun" || p.name == "labelSelector" { // it is alike for all
		out = append(out, p.name+unreadable[0], p.name+unreadable[1])
	}
	return out
}

func hex(b byte) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{digits[b>>4], digits[b&15]})
}

// Stories are the requests: for each parameter all verbs of a custom resource
// and of a kind of Kubernetes' own.
func Stories() []story.Story {
	var out []story.Story
	for _, p := range all {
		out = append(out, custom(p), builtIn(p))
	}
	return append(out, below()...)
}
