// The mail server in the process of the sandbox: announced beside the platform, with the administrator that a file names, principals that
// survive, and no password in its output.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { basic, PASSWORD } from './support/mail.ts';
import { type Installation, install, lease } from './support/process.ts';

/** The address of the mail server of a sandbox that was just started. */
async function start(installation: Installation) {
  const running = installation.start();
  const services = (await running.ready).services as { platform: number; mail: number };
  assert.deepEqual(installation.announcement()?.services, services);
  const url = `http://127.0.0.1:${services.mail}`;
  const call = (authorization: string, path: string, init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization } });
  return { running, held: await lease(services.platform), call };
}

test('its administrator is the one that the file names at the moment', async (context) => {
  const installation = await install(context);
  const file = join(installation.directory, 'mail-administrator');
  const { running, held, call } = await start(installation);
  const statusFor = async (password: string) => (await call(basic('admin', password), '/api/principal')).status;
  assert.equal(await statusFor(PASSWORD), 401, 'without the file there is none');
  assert.equal(await statusFor(''), 401);
  writeFileSync(file, `admin:${PASSWORD}\n`, { mode: 0o600 });
  assert.equal(await statusFor(PASSWORD), 200);
  writeFileSync(file, `admin:${PASSWORD}:2`, { mode: 0o600 });
  assert.deepEqual([await statusFor(PASSWORD), await statusFor(`${PASSWORD}:2`)], [401, 200]);
  rmSync(file);
  assert.equal(await statusFor(`${PASSWORD}:2`), 401);
  held.destroy();
  assert.deepEqual(await running.ended, { code: 0, signal: null, log: '' });
});

test('principals survive the end of the process, uploads do not, and no password is written', async (context) => {
  const installation = await install(context);
  writeFileSync(join(installation.directory, 'mail-administrator'), `admin:${PASSWORD}`, { mode: 0o600 });
  const admin = basic('admin', PASSWORD);
  const first = await start(installation);
  const body = JSON.stringify({ name: 'kept', secrets: [PASSWORD] });
  assert.equal((await first.call(admin, '/api/principal', { method: 'POST', body })).status, 200);
  const broken = await first.call(admin, '/api/principal', { method: 'POST', body: `{"secrets":"${PASSWORD}"` });
  assert.equal(broken.status, 400);
  const uploaded = await first.call(admin, '/jmap/upload/u0/', { method: 'POST', body: 'bytes' });
  const { blobId } = (await uploaded.json()) as { blobId: string };
  first.running.child.kill('SIGKILL');
  assert.equal((await first.running.ended).log, '');

  const second = await start(installation);
  const { data } = (await (await second.call(admin, '/api/principal/kept')).json()) as { data: { secrets: string[] } };
  assert.deepEqual(data.secrets, [PASSWORD]);
  assert.equal((await second.call(admin, `/jmap/download/u0/${blobId}/x`)).status, 404);
  second.held.destroy();
  assert.equal((await second.running.ended).log, '');
});
