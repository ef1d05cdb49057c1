// Package webhook owns calls of HTTPS servers that the API's objects name:
// where one is, how it is trusted, and which replies are errors. It holds to
// that, too, libraries that call the servers of files ([Bounded], [Unmoved]).
//
// It must not know what is sent or what a reply says: conversion/webhook sends
// ConversionReviews through it, and admission AdmissionReviews. The server is
// not trusted: redirects are not followed and every reply is bounded in time
// and size.
package webhook
