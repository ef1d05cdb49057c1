//go:build race

package apply_test

// oracleShare: every so many of the sequences run; with the race detector they
// take ten times as long.
const oracleShare = 10
