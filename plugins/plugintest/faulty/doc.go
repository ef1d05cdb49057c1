//go:build !wasip1

// Command faulty is a module for tests; it is built for wasip1 only.
package main

func main() {}
