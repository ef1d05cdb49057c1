using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Text.Json;
using System.Threading.Tasks;
using k8s;
using k8s.Autorest;
using k8s.Models;

/// <summary>A named step; what it does returns why it cannot be done, or null.</summary>
internal sealed record Step(string Name, Func<Task<string>> Do)
{
    /// <summary>A step that can always be done.</summary>
    internal Step(string name, Func<Task> always)
        : this(name, async () =>
        {
            await always();
            return null;
        })
    {
    }
}

/// <summary>
/// Runs named steps and tells the Go test that started this program about them: one JSON document
/// a line on standard output, replies on standard input.
/// </summary>
internal static class Harness
{
    /// <summary>Runs one step and reports how it went; a failure does not end the program.</summary>
    internal static async Task Run(Step step)
    {
        try
        {
            var skipped = await step.Do();
            Say(new { step = step.Name, ok = true, skipped = skipped ?? "" });
        }
        catch (Exception e)
        {
            Say(new { step = step.Name, ok = false, message = e.ToString() });
        }
    }

    internal static void Finished() => Say(new { finished = true });

    /// <summary>Has the Go test do something to the server, and tells whether it could.</summary>
    internal static bool Ask(string what)
    {
        Say(new { ask = what });
        return Console.In.ReadLine() == "done";
    }

    private static void Say(object document)
    {
        Console.Out.WriteLine(JsonSerializer.Serialize(document));
        Console.Out.Flush();
    }

    internal static void Equal<T>(T got, T want)
    {
        if (!EqualityComparer<T>.Default.Equals(got, want))
        {
            throw new InvalidOperationException($"got {got}, want {want}");
        }
    }

    internal static void Equal(IEnumerable<string> got, params string[] want) =>
        Equal(string.Join(", ", got), string.Join(", ", want));

    /// <summary>Compares a map with keys and values that follow each other.</summary>
    internal static void EqualMap(IDictionary<string, string> got, params string[] want)
    {
        var ordered = (got ?? new Dictionary<string, string>()).OrderBy(p => p.Key, StringComparer.Ordinal);
        Equal(ordered.SelectMany(p => new[] { p.Key, p.Value }), want);
    }

    internal static void True(bool holds, object otherwise)
    {
        if (!holds)
        {
            throw new InvalidOperationException($"{otherwise}");
        }
    }

    /// <summary>Makes a request that has to fail with this code and reason, and returns its message.</summary>
    internal static async Task<string> Refused(int code, string reason, Func<Task> request)
    {
        try
        {
            await request();
        }
        catch (HttpOperationException e)
        {
            var status = KubernetesJson.Deserialize<V1Status>(e.Response.Content);
            Equal((int)e.Response.StatusCode, code);
            Equal(status.Kind, "Status");
            Equal(status.Code, code);
            Equal(status.Reason, reason);
            return status.Message;
        }
        throw new InvalidOperationException($"not refused with {code}");
    }

    /// <summary>Waits until something is true.</summary>
    internal static async Task Eventually(string what, Func<Task<bool>> holds)
    {
        var since = Stopwatch.StartNew();
        while (!await holds())
        {
            True(since.Elapsed < TimeSpan.FromMinutes(1), what + ": not after a minute");
            await Task.Delay(50);
        }
    }

    /// <summary>Tells whether what is asked for does not exist.</summary>
    internal static async Task<bool> Absent(Func<Task> request)
    {
        try
        {
            await request();
            return false;
        }
        catch (HttpOperationException e) when ((int)e.Response.StatusCode == 404)
        {
            return true;
        }
    }
}
