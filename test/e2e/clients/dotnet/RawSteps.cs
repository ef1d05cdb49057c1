using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;
using k8s;
using k8s.Authentication;
using k8s.Autorest;
using k8s.Models;

/// <summary>
/// Steps beside plain reads and writes: other users, discovery, tables, and requests of the
/// program's own over the client's connection, for paths that are not resources.
/// </summary>
internal sealed class RawSteps(Kubernetes client, string ns, string certificate)
{
    internal IEnumerable<Step> All() =>
    [
        new("a kubeconfig with a certificate", Certified),
        new("a table", Table),
        new("paths that are not resources", Paths),
        new("discovery", Discovery),
        new("a service account's token, from a file", Token),
    ];

    private async Task<string> Certified()
    {
        if (certificate == null)
        {
            return "this server signs no certificates";
        }
        using var other = new Kubernetes(KubernetesClientConfiguration.BuildConfigFromConfigFile(certificate));
        var review = await other.AuthenticationV1.CreateSelfSubjectReviewAsync(new V1SelfSubjectReview());
        Harness.Equal(review.Status.UserInfo.Username, "certified");
        return null;
    }

    private async Task Table()
    {
        var map = new V1ConfigMap
        {
            Metadata = new V1ObjectMeta { Name = "shown" },
            Data = new Dictionary<string, string> { ["a"] = "1" },
        };
        await client.CoreV1.CreateNamespacedConfigMapAsync(map, ns);
        var headers = new Dictionary<string, IReadOnlyList<string>>
        {
            ["Accept"] = ["application/json;as=Table;v=v1;g=meta.k8s.io"],
        };
        using var reply = await client.CustomObjects.ListNamespacedCustomObjectWithHttpMessagesAsync<JsonElement>(
            "", "v1", ns, "configmaps", fieldSelector: "metadata.name=shown", customHeaders: headers);
        Harness.Equal(reply.Body.GetProperty("kind").GetString(), "Table");
        Harness.Equal(
            reply.Body.GetProperty("columnDefinitions").EnumerateArray().Select(c => c.GetProperty("name").GetString()),
            "Name",
            "Data",
            "Age");
        Harness.Equal(reply.Body.GetProperty("rows")[0].GetProperty("cells")[0].GetString(), "shown");
    }

    private async Task Paths()
    {
        var version = await client.Version.GetCodeAsync();
        Harness.True(version.GitVersion.StartsWith("v1.", StringComparison.Ordinal), version);
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(client.BaseUri, "readyz"));
        await client.Credentials.ProcessHttpRequestAsync(request, CancellationToken.None);
        using var reply = await client.HttpClient.SendAsync(request);
        Harness.Equal(await reply.Content.ReadAsStringAsync(), "ok");
    }

    private async Task Discovery()
    {
        var groups = await client.Apis.GetAPIVersionsAsync();
        Harness.Equal(groups.Groups.Single(g => g.Name == "apps").PreferredVersion.GroupVersion, "apps/v1");
        var all = (await client.AppsV1.GetAPIResourcesAsync()).Resources;
        var one = all.Single(r => r.Name == "deployments");
        Harness.Equal([one.Kind, one.SingularName, $"{one.Namespaced}"], "Deployment", "deployment", "True");
        Harness.Equal(all.Single(r => r.Name == "deployments/scale").Kind, "Scale");
    }

    private async Task Token()
    {
        var account = new V1ServiceAccount { Metadata = new V1ObjectMeta { Name = "reader" } };
        await client.CoreV1.CreateNamespacedServiceAccountAsync(account, ns);
        var request = new Authenticationv1TokenRequest
        {
            Spec = new V1TokenRequestSpec { Audiences = [], ExpirationSeconds = 3600 },
        };
        var made = await client.CoreV1.CreateNamespacedServiceAccountTokenAsync(request, "reader", ns);
        var file = Path.GetTempFileName();
        await File.WriteAllTextAsync(file, made.Status.Token);
        var config = KubernetesClientConfiguration.BuildDefaultConfig();
        config.AccessToken = null;
        config.TokenProvider = new TokenFileAuth(file);
        using var reader = new Kubernetes(config);
        var message = await Harness.Refused(
            403, "Forbidden", () => reader.CoreV1.ReadNamespacedConfigMapAsync("shown", ns));
        Harness.True(
            message.Contains($"User \"system:serviceaccount:{ns}:reader\" cannot get resource"), message);
        await LetRead();
        await Harness.Eventually("the account may read", () => MayRead(reader));
    }

    private async Task LetRead()
    {
        var meta = new V1ObjectMeta { Name = "reader" };
        var rule = new V1PolicyRule
        {
            ApiGroups = [""],
            Resources = ["configmaps"],
            ResourceNames = ["shown"],
            Verbs = ["get"],
        };
        await client.RbacAuthorizationV1.CreateNamespacedRoleAsync(new V1Role { Metadata = meta, Rules = [rule] }, ns);
        var binding = new V1RoleBinding
        {
            Metadata = meta,
            Subjects = [new Rbacv1Subject { Kind = "ServiceAccount", Name = "reader", NamespaceProperty = ns }],
            RoleRef = new V1RoleRef { ApiGroup = "rbac.authorization.k8s.io", Kind = "Role", Name = "reader" },
        };
        await client.RbacAuthorizationV1.CreateNamespacedRoleBindingAsync(binding, ns);
    }

    private async Task<bool> MayRead(Kubernetes reader)
    {
        try
        {
            Harness.EqualMap((await reader.CoreV1.ReadNamespacedConfigMapAsync("shown", ns)).Data, "a", "1");
            return true;
        }
        catch (HttpOperationException e) when ((int)e.Response.StatusCode == 403)
        {
            return false;
        }
    }
}
