// Command module is package answer as a module. It owns only that form, and must
// not know what is answered.
package main

func main() {}
