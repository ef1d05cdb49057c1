// Drives a server with the official JavaScript client, as its users do.
//   node main.mjs NAMESPACE GROUP      (the server is named by KUBECONFIG)
// The namespace exists and is empty; the group has no definition yet.

import assert from 'node:assert/strict';
import * as k8s from '@kubernetes/client-node';
import { finish, step } from './harness.mjs';
import { builtInSteps } from './builtin.mjs';
import { customSteps } from './custom.mjs';
import { rawSteps } from './raw.mjs';
import { watchSteps } from './watching.mjs';

const [namespace, group] = process.argv.slice(2);
assert.ok(namespace && group, 'usage: main.mjs NAMESPACE GROUP');

const config = new k8s.KubeConfig();
config.loadFromDefault();

for (const steps of [builtInSteps, customSteps, rawSteps, watchSteps]) {
  for (const [name, run] of Object.entries(steps({ config, namespace, group }))) {
    await step(name, run);
  }
}
finish();
