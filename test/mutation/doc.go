// Command mutation breaks places of the code, one at a time, and counts how often the tests of
// the place's own package notice: a comparison with another sign, an "and" for an "or",
// an error that is not passed on.
//
//	go run ./test/mutation [-count 40] [-seed 1] [-only REGEXP] PACKAGE...
//
// All places of a package are compiled into one test program, which is told by a variable
// which of them is broken. So a place costs no more than the package's tests take, and
// nothing is compiled for it. Files are left as they are: the compiler is given others in
// their place. What survives is printed, and may be the same to everybody, as a buffer
// that grows at another size; a person has to tell.
//
// It owns what a mistake is, and must not know any package.
package main
