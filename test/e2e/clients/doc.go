// Package clients owns the tests of the official clients of other languages:
// programs in the folders named like them that use them as their users do, run
// here against a gateway of their own or, like the tests of package e2e,
// against the server that the environment names.
//
// A client that is not installed skips its test with the command that installs
// it; where the environment variable CI is "true" it fails the test. Those for C,
// Haskell, Java, Perl and Ruby no package manager has: environment variables name clones of
// their repositories, and the folder that .NET's program was published to, without which
// their tests are skipped everywhere (docs/clients.md).
// The programs must not know which server they talk to.
package clients
