// Command noexports is a module without the exports of the ABI.
package main

func main() {}
