//go:build !race

package managedfields_test

const oracleShare = 1
