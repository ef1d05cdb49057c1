//go:build !linux

package compiler

func attackFrom([]string) int { return 0 }
