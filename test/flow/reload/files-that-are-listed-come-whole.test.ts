// With a list of digests beside the configuration, files that are cut off, missing or of another release are refused by `check` and by a
// reload, even where each is valid.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { runInProcess } from '../../support/in-process.ts';
import { createWorld } from '../../support/world.ts';
import { inForce, until } from './files.ts';

const fileOf = (name: string) => join(world.gateway.directory, 'config', name);
const check = async (...flags: string[]) => {
  const { code, stdout, stderr } = await runInProcess(['check', '--json', ...flags], { environment });
  assert.ok(code === 0 || code === 1, stderr);
  return JSON.parse(stdout) as { ok: boolean; version?: string; manifest?: boolean; mistakes: { reason: string }[] };
};
const requests = async () => (await world.call('GET /v1/things')).headers['x-ratelimit-limit'];
const tiers = (standard: number) => `tiers:\n  standard: { requests: ${standard} }\naddresses: { failures: 100 }\n`;

const world = await createWorld({ limits: { tiers: { standard: { requests: 777 } } } });
const environment = {
  GATEWAY_CONFIG: join(world.gateway.directory, 'config'),
  GATEWAY_CONTRACTS: join(world.gateway.directory, 'openapi'),
};
after(() => world.close());

it('check writes the list, which sha256sum accepts, and says version and list', async () => {
  assert.equal((await check()).manifest, false);
  await check('--write-manifest');
  execFileSync('sha256sum', ['--check', '--strict', 'manifest.sha256'], { cwd: environment.GATEWAY_CONFIG });
  const { ok, manifest, version } = await check();
  assert.deepEqual([ok, manifest], [true, true]);
  assert.equal(version, (await inForce(world.gateway)).version);
});

it('a file that is cut off but valid is refused until the rest is there', async () => {
  const whole = `${tiers(888)}# the end\n`;
  const former = readFileSync(fileOf('limits.yaml'));
  writeFileSync(fileOf('limits.yaml'), whole);
  await check('--write-manifest');
  const list = readFileSync(fileOf('manifest.sha256'));
  writeFileSync(fileOf('limits.yaml'), former);
  await world.gateway.app.reload();
  // As a copy leaves them that begins with the list.
  writeFileSync(fileOf('manifest.sha256'), list);
  writeFileSync(fileOf('limits.yaml'), tiers(888));
  await world.gateway.app.reload();
  assert.equal(await requests(), '777');
  const { last_failure: failure } = await inForce(world.gateway);
  assert.match(String(failure?.mistakes), /limits\.yaml: the file has other content than in manifest\.sha256\./);
  assert.equal((await check()).ok, false);
  appendFileSync(fileOf('limits.yaml'), '# the end\n');
  await until(async () => (await requests()) === '888');
});

it('a list without a file that is read, with one that is missing, or cut off itself is refused', async () => {
  const list = readFileSync(fileOf('manifest.sha256'), 'utf8');
  const reasons = async (text: string) => {
    writeFileSync(fileOf('manifest.sha256'), text);
    return (await check()).mistakes.map(({ reason }) => reason).join(' ');
  };
  const lines = list.trimEnd().split('\n');
  assert.match(await reasons(`${lines.slice(1).join('\n')}\n`), /is not listed in manifest\.sha256/);
  assert.match(await reasons(`${list}${'0'.repeat(64)}  absent.yaml\n`), /is listed in manifest\.sha256, but missing/);
  assert.match(await reasons(list.slice(0, -3)), /the last line has no end/);
  assert.match(await reasons(`nonsense\n${list}`), /this is no line of sha256sum/);
  assert.match(await reasons(''), /the last line has no end/);
  rmSync(fileOf('manifest.sha256'));
  assert.equal((await check()).ok, true);
});
