// Package guardreport owns the GuardReports: what each gateway says of the guards that it
// has from disk, and whether others have the same.
//
// It must not know what guards do, nor how they are read.
package guardreport
