//go:build !race

package apply_test

const oracleShare = 1
