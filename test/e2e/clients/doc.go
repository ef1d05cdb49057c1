// Package clients owns the tests of the official clients of other languages:
// programs in the js and python folders that use them as their users do, run
// here against a gateway of their own or, like the tests of package e2e,
// against the server that the environment names.
//
// A client that is not installed skips its test with the command that installs
// it; where the environment variable CI is "true" it fails the test. The programs
// must not know which server they talk to.
package clients
