using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using k8s;
using k8s.Models;

/// <summary>
/// Steps that follow changes: a watch, one whose history is gone, and the recovery from that, which
/// this client leaves to its users.
/// </summary>
internal sealed class WatchSteps(Kubernetes client, string ns)
{
    private const string Watched = "watched=yes";

    internal IEnumerable<Step> All() =>
    [
        new("watch", Changes),
        new("watch with callbacks", Callbacks),
        new("watch ends after timeoutSeconds", Timeout),
        new("bookmarks", Bookmarks),
        new("recovery from 410 by a list", Recovery),
    ];

    private Task Create(string name)
    {
        var labels = new Dictionary<string, string> { ["watched"] = "yes" };
        var map = new V1ConfigMap { Metadata = new V1ObjectMeta { Name = name, Labels = labels } };
        return client.CoreV1.CreateNamespacedConfigMapAsync(map, ns);
    }

    private Task Touch(string name, string value) => client.CoreV1.PatchNamespacedConfigMapAsync(
        new V1Patch($$$"""{"data":{"value":"{{{value}}}"}}""", V1Patch.PatchType.MergePatch), name, ns);

    private Task Remove(string name) => client.CoreV1.DeleteNamespacedConfigMapAsync(name, ns);

    private Task<V1ConfigMapList> List() => client.CoreV1.ListNamespacedConfigMapAsync(ns, labelSelector: Watched);

    private async Task<string> Revision() => (await List()).Metadata.ResourceVersion;

    /// <summary>Watches until one event, or the end, and returns all events.</summary>
    private async Task<List<string>> Follow(string revision, string wanted, int? seconds = null)
    {
        var seen = new List<string>();
        var events = client.CoreV1.WatchListNamespacedConfigMapAsync(
            ns,
            labelSelector: Watched,
            resourceVersion: revision,
            timeoutSeconds: seconds,
            onError: e => seen.Add("Error " + ((e as KubernetesException)?.Status.Code.ToString() ?? e.ToString())));
        await foreach (var (type, map) in events)
        {
            seen.Add($"{type} {map.Metadata.Name}");
            if (seen[^1] == wanted)
            {
                break;
            }
        }
        return seen;
    }

    private async Task Changes()
    {
        var start = await Revision();
        await Create("seen");
        await Touch("seen", "1");
        await Remove("seen");
        Harness.Equal(await Follow(start, "Deleted seen"), "Added seen", "Modified seen", "Deleted seen");
    }

    private async Task Callbacks()
    {
        var seen = new TaskCompletionSource<string>();
        using var watcher = client.CoreV1.WatchListNamespacedConfigMap(
            ns,
            labelSelector: Watched,
            resourceVersion: await Revision(),
            onEvent: (type, map) => seen.TrySetResult($"{type} {map.Metadata.Name}"),
            onError: e => seen.TrySetException(e));
        await Create("called");
        Harness.Equal(await seen.Task.WaitAsync(TimeSpan.FromMinutes(1)), "Added called");
        await Remove("called");
    }

    private async Task Timeout()
    {
        // This client takes a watch that ends without any event for a broken one.
        var start = await Revision();
        await Create("timed");
        Harness.Equal(await Follow(start, null, 3), "Added timed");
        await Remove("timed");
    }

    private async Task Bookmarks()
    {
        // A watch that is sent what there is tells by one where that ends.
        var events = client.CoreV1.WatchListNamespacedConfigMapAsync(
            ns,
            allowWatchBookmarks: true,
            labelSelector: Watched,
            resourceVersionMatch: "NotOlderThan",
            sendInitialEvents: true);
        await foreach (var (type, map) in events)
        {
            Harness.Equal($"{type}", "Bookmark");
            Harness.True(map.Metadata.ResourceVersion != null, map);
            Harness.EqualMap(map.Metadata.Annotations, "k8s.io/initial-events-end", "true");
            return;
        }
        Harness.True(false, "no bookmark");
    }

    private async Task<string> Recovery()
    {
        await Create("stays");
        await Create("goes");
        var old = await Revision();
        await Remove("goes");
        await Create("comes");
        if (!Harness.Ask("lose history"))
        {
            return "the history of this server cannot be taken away";
        }
        Harness.Equal(await Follow(old, null), "Error 410");
        var list = await List();
        Harness.Equal(list.Items.Select(map => map.Metadata.Name), "comes", "stays");
        await Touch("comes", "2");
        Harness.Equal(await Follow(list.Metadata.ResourceVersion, "Modified comes"), "Modified comes");
        return null;
    }
}
