// A mistake is reported once, for any number of workers, and no process stays behind.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, it } from 'node:test';
import { loadSettings } from '../../../gateway/config/settings.ts';
import { ConfigError } from '../../../gateway/shared/mistakes.ts';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import type { Finished } from '../../support/in-process.ts';
import { createInstallation } from '../../support/process.ts';
import { startRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';

const directory = temporaryDirectory();

const redis = await startRedis();
after(async () => {
  await redis.stop();
});

async function runStart(environment: Record<string, string>): Promise<Finished> {
  const installation = createInstallation({
    ...environmentOf(directory),
    ...environment,
  });
  const finished = await installation.run('start');
  installation.remove();
  return finished;
}

/** The sentences about the environment. */
function mistakesOf(environment: Record<string, string>): string[] {
  try {
    loadSettings(environment);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.mistakes.map(({ place, reason, remedy }) => `${place}: ${reason} ${remedy}`);
  }
}

it('several workers without a Redis are a mistake that names the missing setting', () => {
  assert.deepEqual(mistakesOf({ WORKERS: '2' }), [
    'WORKERS: 2 workers need a store that they share. Set REDIS_URL, or unset WORKERS for one worker.',
  ]);
});

it('WORKERS is a number from 1 to 64', () => {
  const redisUrl = 'redis://127.0.0.1:6379';
  for (const given of ['0', '65', '-1', '1.5', 'many', '100'])
    assert.deepEqual(mistakesOf({ WORKERS: given, REDIS_URL: redisUrl }), [
      `WORKERS: "${given}" is not a number of workers. Set WORKERS to 1–64, or unset it for 1.`,
    ]);
  for (const given of ['1', '2', '64'])
    assert.equal(loadSettings({ WORKERS: given, REDIS_URL: redisUrl }).workers, Number(given));
  assert.equal(loadSettings({}).workers, 1);
  assert.equal(loadSettings({ WORKERS: '' }).workers, 1);
  assert.equal(loadSettings({ WORKERS: '1' }).workers, 1);
});

it('a mistake in a file is reported once, with its line', async () => {
  writeConfiguration(directory, { ...thingsAt('http://127.0.0.1:9'), limits: { nonsense: true } });
  const { code, stdout, stderr } = await runStart({ WORKERS: '2', REDIS_URL: redis.url });
  assert.equal(code, 1);
  assert.equal(stderr.match(/limits\.yaml:\d+:\d+: .*nonsense/g)?.length, 1, stderr);
  assert.equal(stderr.match(/1 mistake in the configuration; nothing was started\./g)?.length, 1, stderr);
  assert.ok(!stdout.includes('gateway   http'));
});

it('a port that is taken is reported once', async () => {
  writeConfiguration(directory, thingsAt('http://127.0.0.1:9'));
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  try {
    const { code, stderr } = await runStart({ WORKERS: '2', REDIS_URL: redis.url, PORT: String(port) });
    assert.equal(code, 1);
    assert.equal(
      stderr,
      `gateway: Cannot listen on 127.0.0.1:${port}: something else listens there. Stop it, or set PORT to a free port.\n`,
    );
  } finally {
    taken.close();
  }
});
