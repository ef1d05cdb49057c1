// Package recorded owns the text of what kube-apiserver answered: a file for each
// story, by table, which a diff shows and a reader reads.
//
//	story deployments.apps.v1
//	~ is /apis/apps/v1/namespaces/table-deployments/deployments
//	object is {"apiVersion":"apps/v1","kind":"Deployment",…}
//
//	PATCH ~/there?dryRun=All merge {"metadata":{"labels":null}}
//	> 200 {"apiVersion":"apps/v1",…}
//	PUT ~/there?dryRun=All {...object, metadata.uid: "other"}
//	> 409 Conflict: Operation cannot be fulfilled on …
//	  details {"group":"apps","kind":"deployments","name":"there"}
//
// The line above a reply is the heading of its request, by which it is named in
// lists of differences too (package differences): what is asked, with bodies as
// what sets them off from the story's object. A request that was made before says
// after which it is made again. A long reply that is given more than once is
// written once, after its digest in brackets, and the digest alone stands for it
// below. Of further objects of one kind is written what sets them off from the
// first, which {... and its digest stand for.
//
// `go run ./test/cmd/record` writes the files. The package knows requests and
// replies as text, and must not know what they mean.
package recorded
