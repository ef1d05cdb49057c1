//go:build race

package managedfields_test

// oracleShare: one of so many settings is used; with the race detector sequences
// take ten times as long.
const oracleShare = 10
