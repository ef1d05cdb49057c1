using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using k8s;
using k8s.Models;

/// <summary>
/// Steps with built-in kinds through the typed API, whose bodies do not carry apiVersion and kind.
/// </summary>
internal sealed class BuiltinSteps(Kubernetes client, string ns)
{
    private const string Paged = "page=yes";

    internal IEnumerable<Step> All() =>
    [
        new("create a built-in object without apiVersion and kind", Create),
        new("get", Get),
        new("secrets keep their bytes", Secrets),
        new("list in chunks", Chunks),
        new("json, merge and strategic merge patch", Patches),
        new("apply", Apply),
        new("replace, and replace with a stale resourceVersion", Replace),
        new("dry run", DryRun),
        new("status and scale", Subresources),
        new("delete with a precondition", DeleteOptions),
        new("delete, one and many", Delete),
    ];

    private static V1ConfigMap ConfigMap(string name, params string[] data)
    {
        var made = new V1ConfigMap { Metadata = new V1ObjectMeta { Name = name }, Data = new Dictionary<string, string>() };
        for (var i = 0; i < data.Length; i += 2)
        {
            made.Data[data[i]] = data[i + 1];
        }
        return made;
    }

    private Task<V1ConfigMap> Read(string name) => client.CoreV1.ReadNamespacedConfigMapAsync(name, ns);

    private async Task Create()
    {
        var made = await client.CoreV1.CreateNamespacedConfigMapAsync(ConfigMap("one", "a", "1"), ns);
        Harness.Equal([made.Kind, made.ApiVersion], "ConfigMap", "v1");
        Harness.EqualMap(made.Data, "a", "1");
        var meta = made.Metadata;
        Harness.True(meta.Uid != null && meta.ResourceVersion != null && meta.CreationTimestamp != null, meta);
    }

    private async Task Get()
    {
        Harness.EqualMap((await Read("one")).Data, "a", "1");
        await Harness.Refused(404, "NotFound", () => Read("nothing"));
    }

    private async Task Secrets()
    {
        byte[] bytes = [0, 0xff, (byte)'\n'];
        var secret = new V1Secret
        {
            Metadata = new V1ObjectMeta { Name = "one" },
            Data = new Dictionary<string, byte[]> { ["key"] = bytes },
        };
        await client.CoreV1.CreateNamespacedSecretAsync(secret, ns);
        var got = await client.CoreV1.ReadNamespacedSecretAsync("one", ns);
        Harness.True(got.Data["key"].SequenceEqual(bytes), Convert.ToHexString(got.Data["key"]));
    }

    private async Task Chunks()
    {
        for (var i = 0; i < 7; i++)
        {
            var map = ConfigMap($"page-{i}");
            map.Metadata.Labels = new Dictionary<string, string> { ["page"] = "yes" };
            await client.CoreV1.CreateNamespacedConfigMapAsync(map, ns);
        }
        var names = new List<string>();
        var sizes = new List<string>();
        string next = null;
        do
        {
            var page = await client.CoreV1.ListNamespacedConfigMapAsync(
                ns, labelSelector: Paged, limit: 3, continueParameter: next);
            names.AddRange(page.Items.Select(map => map.Metadata.Name));
            sizes.Add($"{page.Items.Count}");
            next = page.Metadata.ContinueProperty;
        }
        while (!string.IsNullOrEmpty(next));
        Harness.Equal(names, Enumerable.Range(0, 7).Select(i => $"page-{i}").ToArray());
        Harness.Equal(sizes, "3", "3", "1");
    }

    private Task<V1ConfigMap> Patch(V1Patch.PatchType type, string text, string manager = null, bool? force = null) =>
        client.CoreV1.PatchNamespacedConfigMapAsync(
            new V1Patch(text, type), "one", ns, fieldManager: manager, force: force);

    private async Task Patches()
    {
        static string Add(string tested) =>
            $$"""[{"op":"test","path":"/data/a","value":"{{tested}}"},{"op":"add","path":"/data/b","value":"2"}]""";
        Harness.EqualMap((await Patch(V1Patch.PatchType.JsonPatch, Add("1"))).Data, "a", "1", "b", "2");
        await Harness.Refused(422, "Invalid", () => Patch(V1Patch.PatchType.JsonPatch, Add("other")));
        var got = await Patch(V1Patch.PatchType.MergePatch, """{"data":{"b":null,"c":"3"}}""");
        Harness.EqualMap(got.Data, "a", "1", "c", "3");
        got = await Patch(V1Patch.PatchType.StrategicMergePatch, """{"data":{"$patch":"replace","c":"4"}}""");
        Harness.EqualMap(got.Data, "c", "4");
    }

    private async Task Apply()
    {
        static string Map(string value) =>
            $$$"""{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"e":"{{{value}}}"}}""";
        var type = V1Patch.PatchType.ApplyPatch;
        Harness.EqualMap((await Patch(type, Map("1"), "dotnet")).Data, "c", "4", "e", "1");
        await Harness.Refused(409, "Conflict", () => Patch(type, Map("2"), "other"));
        Harness.Equal((await Patch(type, Map("2"), "other", true)).Data["e"], "2");
    }

    private async Task Replace()
    {
        var old = await Read("one");
        old.Data = new Dictionary<string, string> { ["d"] = "4" };
        var replaced = await client.CoreV1.ReplaceNamespacedConfigMapAsync(old, "one", ns);
        Harness.True(replaced.Metadata.ResourceVersion != old.Metadata.ResourceVersion, "the resourceVersion stayed");
        old.Data.Clear();
        var message = await Harness.Refused(
            409, "Conflict", () => client.CoreV1.ReplaceNamespacedConfigMapAsync(old, "one", ns));
        Harness.True(message.Contains("the object has been modified"), message);
        Harness.EqualMap((await Read("one")).Data, "d", "4");
    }

    private async Task DryRun()
    {
        var made = await client.CoreV1.CreateNamespacedConfigMapAsync(ConfigMap("dry", "a", "1"), ns, dryRun: "All");
        Harness.True(made.Metadata.Uid != null, made);
        await Harness.Refused(404, "NotFound", () => Read("dry"));
    }

    private async Task Subresources()
    {
        var labels = new Dictionary<string, string> { ["app"] = "one" };
        var deployment = new V1Deployment
        {
            Metadata = new V1ObjectMeta { Name = "one" },
            Spec = new V1DeploymentSpec
            {
                // None, so that nothing is made of it where controllers run.
                Replicas = 0,
                Selector = new V1LabelSelector { MatchLabels = labels },
                Template = new V1PodTemplateSpec
                {
                    Metadata = new V1ObjectMeta { Labels = labels },
                    Spec = new V1PodSpec { Containers = [new V1Container { Name = "one", Image = "example.com/one" }] },
                },
            },
        };
        await client.AppsV1.CreateNamespacedDeploymentAsync(deployment, ns);
        var scale = await client.AppsV1.ReadNamespacedDeploymentScaleAsync("one", ns);
        Harness.Equal([scale.Kind, scale.ApiVersion, scale.Status.Selector], "Scale", "autoscaling/v1", "app=one");
        scale.Spec.Replicas = 2;
        scale = await client.AppsV1.ReplaceNamespacedDeploymentScaleAsync(scale, "one", ns);
        Harness.Equal(scale.Spec.Replicas, 2);
        var condition = new V1Patch(
            """{"status":{"conditions":[{"type":"Tried","status":"True"}]},"spec":{"replicas":5}}""",
            V1Patch.PatchType.StrategicMergePatch);
        var got = await client.AppsV1.PatchNamespacedDeploymentStatusAsync(condition, "one", ns);
        Harness.Equal(got.Status.Conditions.Select(c => c.Type), "Tried");
        Harness.Equal(got.Spec.Replicas, 2);
        await client.AppsV1.DeleteNamespacedDeploymentAsync("one", ns);
    }

    private async Task DeleteOptions()
    {
        var options = new V1DeleteOptions { Preconditions = new V1Preconditions { Uid = "another" } };
        var message = await Harness.Refused(
            409, "Conflict", () => client.CoreV1.DeleteNamespacedConfigMapAsync("one", ns, body: options));
        Harness.True(message.Contains("the UID in the precondition (another) does not match"), message);
        Harness.Equal((await Read("one")).Metadata.Name, "one");
    }

    private async Task Delete()
    {
        var status = await client.CoreV1.DeleteNamespacedConfigMapAsync(
            "one", ns, gracePeriodSeconds: 0, propagationPolicy: "Background");
        Harness.Equal(status.Status, "Success");
        await client.CoreV1.DeleteCollectionNamespacedConfigMapAsync(ns, labelSelector: Paged);
        var left = await client.CoreV1.ListNamespacedConfigMapAsync(ns, labelSelector: Paged);
        Harness.Equal(left.Items.Count, 0);
    }
}
