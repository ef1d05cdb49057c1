"""Drives a server with the official Python client, as its users do.

    main.py NAMESPACE GROUP      (the server is named by KUBECONFIG)

The namespace exists and is empty; the group has no definition yet.
"""

import sys

from kubernetes import config

import builtin_steps
import custom_steps
import harness
import raw_steps
import watch_steps


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    namespace, group = sys.argv[1:]
    config.load_kube_config()
    for steps in (builtin_steps, custom_steps, raw_steps, watch_steps):
        for name, run in steps.steps(namespace, group):
            harness.step(name, run)
    harness.say(finished=True)


if __name__ == "__main__":
    main()
