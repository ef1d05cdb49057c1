using System.Collections.Generic;
using k8s;

// Drives a server with the official .NET client, as its users do.
//
// Its arguments are a namespace, which exists and is empty, a group, which has no definition
// yet, and perhaps a kubeconfig of a user who has a certificate. The server is named by the
// environment variable KUBECONFIG.
var client = new Kubernetes(KubernetesClientConfiguration.BuildDefaultConfig());
var all = new List<Step>();
all.AddRange(new BuiltinSteps(client, args[0]).All());
all.AddRange(new CustomSteps(client, args[0], args[1]).All());
all.AddRange(new RawSteps(client, args[0], args.Length > 2 ? args[2] : null).All());
all.AddRange(new WatchSteps(client, args[0]).All());
foreach (var step in all)
{
    await Harness.Run(step);
}
Harness.Finished();
