// Command module is package answer as a module.
package main

func main() {}
