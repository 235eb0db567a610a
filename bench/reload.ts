// How long a running gateway takes from the saving of a file to the configuration in force, and for how long at a time it does nothing else
// meanwhile. Arguments: a directory with config/ and openapi/, a file in it, a pattern in that file, and its replacement, in which #
// becomes the number of the run. Without arguments: 500 upstreams with a contract each, one contract changed.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApp } from '../gateway/app.ts';
import { loadSettings } from '../gateway/config/settings.ts';
import { loadConfiguration } from '../gateway/configuration.ts';
import { openKeyStore, openSecrets } from '../gateway/process/open-key-store.ts';
import { temporaryDirectory } from '../test/support/directory.ts';

const RUNS = 6;
const UPSTREAMS = 500;

const [source, file = 'openapi/service-7.json', pattern = '"title":"[^"]*', replacement = '"title":"Run #'] =
  process.argv.slice(2);
const directory = temporaryDirectory();
if (source === undefined) writeServices();
else cpSync(source, directory, { recursive: true });

/** Many upstreams, each with a small contract of its own. */
function writeServices(): void {
  for (const folder of ['config', 'openapi']) mkdirSync(join(directory, folder));
  const write = (name: string, value: object) => writeFileSync(join(directory, name), JSON.stringify(value));
  const names = Array.from({ length: UPSTREAMS }, (_, index) => `service-${index}`);
  const item = { $ref: '#/components/schemas/Item' };
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  for (const name of names) {
    const id = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
    write(`openapi/${name}.json`, {
      openapi: '3.1.1',
      info: { title: name, version: '1' },
      paths: {
        [`/v1/${name}`]: {
          get: { responses: { 200: { description: 'OK', ...json({ type: 'array', items: item }) } } },
          post: { requestBody: json(item), responses: { 201: { description: 'Created', ...json(item) } } },
        },
        [`/v1/${name}/{id}`]: { get: { parameters: id, responses: { 200: { description: 'OK', ...json(item) } } } },
      },
      components: { schemas: { Item: { type: 'object', properties: { parent: item, name: { type: 'string' } } } } },
    });
  }
  const entries = names.map((name) => [
    name,
    { contracts: [`${name}.json`], live: 'http://127.0.0.1:9', security: { apiKey: [`${name}:read`] } },
  ]);
  write('config/upstreams.yaml', { upstreams: Object.fromEntries(entries) });
  write('config/gateway.yaml', {});
  write('config/limits.yaml', { tiers: { standard: { requests: 100 } } });
}

const environment = {
  ...{ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', GATEWAY_DATA: join(directory, 'data') },
  ...{ GATEWAY_CONFIG: join(directory, 'config'), GATEWAY_CONTRACTS: join(directory, 'openapi') },
};
const settings = loadSettings(environment);
const loadedFrom = performance.now();
const configuration = await loadConfiguration(settings, environment);
const loadMs = performance.now() - loadedFrom;
const secrets = openSecrets({ environment }, settings);
const { store, digestOf } = await openKeyStore({ environment, now: Date.now }, settings, secrets);
let outcomes = 0;
const app = await startApp({
  ...{ version: 'bench', settings, configuration, secrets, store, digestOf, now: Date.now },
  environment,
  logTo: {
    write(line) {
      if (line.includes('have mistakes') || line.includes('has mistakes')) process.stderr.write(line);
      if (line.includes('loaded anew')) outcomes += 1;
    },
  },
});
process.stdout.write(`loaded in ${loadMs.toFixed(0)} ms: ${configuration.contracts.operations.length} operations\n`);

const original = readFileSync(join(directory, file), 'utf8');
const durations: number[] = [];
await sleep(1000);
for (let run = 0; run < RUNS; run += 1) durations.push(await reload(run));
process.stdout.write(`median ${durations.sort((a, b) => a - b)[RUNS >> 1]?.toFixed(0)} ms\n`);
await app.stop();
await store.close();
rmSync(directory, { recursive: true, force: true });

/** Saves once and waits until it is in force; prints the longest time between two turns, and how much of it was CPU of this thread. */
async function reload(run: number): Promise<number> {
  const before = outcomes;
  const changed = original.replace(new RegExp(pattern), replacement.replace('#', String(run)));
  writeFileSync(join(directory, file), changed);
  await sleep(0);
  const startedAt = performance.now();
  let [lastAt, lastCpu] = [startedAt, process.threadCpuUsage()];
  let longest = { ms: 0, cpuMs: 0 };
  const timer = setInterval(() => {
    const ms = performance.now() - lastAt;
    const { user, system } = process.threadCpuUsage(lastCpu);
    if (ms > longest.ms) longest = { ms, cpuMs: (user + system) / 1000 };
    [lastAt, lastCpu] = [performance.now(), process.threadCpuUsage()];
  }, 1);
  while (outcomes === before) {
    app.log.flush();
    await sleep(3);
  }
  const tookMs = performance.now() - startedAt;
  clearInterval(timer);
  const held = `${longest.ms.toFixed(1)} ms (${longest.cpuMs.toFixed(1)} ms of CPU)`;
  process.stdout.write(`run ${run}: ${tookMs.toFixed(0)} ms, held up for ${held} at most\n`);
  await sleep(600);
  return tookMs;
}
