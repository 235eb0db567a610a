// The sandbox process lives as long as a gateway holds a lease, and never longer.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { assertionOf, send } from './support/platform.ts';
import { install, lease } from './support/process.ts';

test('it announces its address, lives while a lease is held, survives a change of holders, and ends cleanly after the last', async (context) => {
  const installation = await install(context);
  const { child, ready, ended } = installation.start();
  const { services } = await ready;
  const first = await lease(services.platform);
  assert.deepEqual(installation.announcement(), { pid: child.pid, services });
  const token = await assertionOf({}).sign(installation.key.privateKey);
  assert.equal((await send(`http://127.0.0.1:${services.platform}`, token, 'GET', '/v1/jobs')).status, 200);
  // A lease names its owner, so that a port from an old announcement is not taken for this sandbox.
  const [owner] = await once(get({ port: services.platform, path: '/_sandbox/lease', agent: false }), 'response');
  assert.equal(owner.headers['x-sandbox-pid'], String(child.pid));
  owner.destroy();

  // A second process on the same directory exits with 73 and leaves the first alone.
  const { code, log } = await installation.start().ended;
  assert.equal(code, 73);
  assert.match(JSON.parse(log).message, /another sandbox is running/);
  assert.deepEqual(installation.announcement()?.services, services);

  // So does an interrupt from the terminal, under a gateway that is still draining.
  child.kill('SIGINT');
  await wait(300);
  const second = await lease(services.platform);
  first.destroy();
  await wait(300);
  assert.ok(installation.announcement(), 'the second lease keeps it');
  second.destroy();
  await wait(50);
  const third = await lease(services.platform);
  await wait(300);
  assert.ok(installation.announcement(), 'a lease that came back in time keeps it');
  third.destroy();

  assert.deepEqual(await ended, { code: 0, signal: null, log: '' });
  assert.equal(installation.announcement(), undefined);
  assert.equal(existsSync(join(installation.directory, 'platform.db-wal')), false, 'checkpointed');
});

test('it ends when a holder dies without a word', async (context) => {
  const installation = await install(context);
  const { ready, ended } = installation.start();
  const { platform: port } = (await ready).services;
  const script = `require('node:http').get({ port: ${port}, path: '/_sandbox/lease' }, () => process.kill(process.pid, 'SIGKILL'))`;
  assert.throws(() => execFileSync(process.execPath, ['-e', script]), /SIGKILL|Command failed/);
  assert.equal((await ended).code, 0);
});

test('it ends when no lease ever comes', async (context) => {
  const { ended } = (await install(context)).start({ SANDBOX_FIRST_LEASE_GRACE_MS: '100' });
  assert.equal((await ended).code, 0);
});

test('SIGTERM ends it cleanly even while a lease is held', async (context) => {
  const installation = await install(context);
  const { child, ready, ended } = installation.start();
  const held = await lease((await ready).services.platform);
  const closed = once(held, 'close');
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
  await closed;
  assert.equal(installation.announcement(), undefined);
});

test('several processes started at once agree on one; when it was killed, nothing keeps the next one from starting', async (context) => {
  const installation = await install(context);
  const started = Array.from({ length: 3 }, () => installation.start());
  const outcomes = await Promise.all(
    started.map(({ ready, ended }) => Promise.race([ready.then(() => 'ready'), ended.then(({ code }) => code)])),
  );
  assert.deepEqual(outcomes.map(String).sort(), ['73', '73', 'ready']);
  const first = started[outcomes.indexOf('ready')];
  first?.child.kill('SIGKILL');
  await first?.ended;
  assert.ok(installation.announcement(), 'the stale announcement is still there');
  const { ready, child } = installation.start();
  await ready;
  assert.equal(installation.announcement()?.pid, child.pid);
});

test('a missing setting is a message and exit code 1', async (context) => {
  const { code, log } = await (await install(context)).start({ SANDBOX_ISSUER: '' }).ended;
  assert.equal(code, 1);
  assert.match(JSON.parse(log).message, /SANDBOX_ISSUER/);
});
