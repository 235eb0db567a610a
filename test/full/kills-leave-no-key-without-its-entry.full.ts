// Three gateways on one Redis. The one that creates, rotates or revokes a key is killed at every command that it sends to Redis and at
// every reply; then Redis itself is killed at every byte that it writes about a change. No key is without its audit entry, and no entry
// without its effect.

import assert from 'node:assert/strict';

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { KeyStore } from '../../gateway/auth/store/key-store.ts';
import { openRedisStore } from '../../gateway/auth/store/redis/redis-key-store.ts';
import { administerAt } from '../support/administration.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';
import { shippedContracts } from '../support/gateway.ts';
import { createInstallation, type Installation, type Running } from '../support/process.ts';
import { end, spawnRedis, startServer, type TestRedis } from '../support/redis.ts';
import { issue, organization, PEPPER, pepperFingerprint } from '../unit/auth/samples.ts';

/** A request has about ten; the gateway's own reading of changes comes in between. */
const STEPS_MAX = 40;
const SCOPES = ['gateway:read', 'gateway:keys'];

/** Every key has the entry of its creation, and every entry of a key the effect that it names. */
async function checkRecords(store: KeyStore): Promise<void> {
  const keys = new Map((await store.keys.list()).map((key) => [key.id, key]));
  const audit = await store.audit.list({ limit: 100_000 });
  const made = audit.flatMap(({ kind, key, details }) =>
    kind === 'key.created' ? [key] : kind === 'key.rotated' ? [details.successor] : [],
  );
  assert.deepEqual(made.toSorted(), [...keys.keys()].toSorted());
  for (const { kind, key = '', details } of audit)
    if (kind === 'key.rotated') assert.equal(keys.get(key)?.replacedBy, details.successor);
  const entriesOf = (wanted: string) => audit.flatMap(({ kind, key }) => (kind === wanted ? [key] : [])).toSorted();
  const idsOf = (member: 'revokedAtMs' | 'replacedBy') =>
    [...keys.values()].flatMap((key) => (key[member] === undefined ? [] : [key.id])).toSorted();
  assert.deepEqual(entriesOf('key.revoked'), idsOf('revokedAtMs'));
  assert.deepEqual(entriesOf('key.rotated'), idsOf('replacedBy'));
  // The organization's own part of the log and its list of keys are parts of the same change.
  const own = await store.audit.list({ organization: 'org_acme', limit: 100_000 });
  assert.deepEqual(
    own,
    audit.filter((change) => change.organization === 'org_acme'),
  );
  assert.equal((await store.keys.list({ organization: 'org_acme' })).length, keys.size);
  for (const key of keys.values()) assert.equal((await store.keys.findByDigest(key.digest))?.key.id, key.id);
}

/** A way to Redis on which the process behind it dies at a certain moment. */
async function startDeadlyWay(redisPort: number) {
  const sockets = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  let moment: 'command' | 'reply' = 'command';
  let kill = () => {};
  let isDead = false;

  function step(at: 'command' | 'reply'): boolean {
    if (isDead) return false;
    if (at === moment) left -= 1;
    if (left > 0) return true;
    isDead = true;
    kill();
    return false;
  }

  const door = createServer((client) => {
    const server = connect(redisPort, '127.0.0.1');
    client.on('data', (bytes) => step('command') && server.write(bytes));
    server.on('data', (bytes) => step('reply') && client.write(bytes));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    port: (door.address() as { port: number }).port,
    dieAt(count: number, at: 'command' | 'reply', die: () => void) {
      [left, moment, kill] = [count, at, die];
    },
    isDead: () => isDead,
    close() {
      door.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

type Action = readonly [line: (target: string) => string, body: (name: string) => object];

describe('a gateway that is killed while it changes keys', () => {
  const config = join(temporaryDirectory(), 'config');
  const survivors: Running[] = [];
  const closing: (() => unknown)[] = [];
  let redis: TestRedis;
  let store: KeyStore;
  let acting: string;

  function install(port: number): Installation {
    const installation = createInstallation({
      GATEWAY_CONFIG: config,
      GATEWAY_CONTRACTS: shippedContracts,
      KEY_PEPPER: PEPPER,
      REDIS_URL: `redis://127.0.0.1:${port}`,
    });
    closing.push(() => installation.remove());
    return installation;
  }

  before(async () => {
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'gateway.yaml'), '{}\n');
    writeFileSync(
      join(config, 'upstreams.yaml'),
      'upstreams: { gateway: { contracts: [gateway/*.yaml], live: "gateway:", timeoutMs: 20000 } }\n',
    );
    writeFileSync(join(config, 'limits.yaml'), 'tiers: { standard: { requests: 1000000 } }\n');
    redis = await startServer();
    store = await openRedisStore({ url: redis.url, pepperFingerprint, now: Date.now });
    await store.organizations.create(organization(), 'test');
    const { key, record } = issue({ scopes: SCOPES });
    await store.keys.create(record);
    acting = key;
    for (const installation of [install(redis.port), install(redis.port)]) survivors.push(await installation.start());
  });
  after(async () => {
    for (const { child } of survivors) child.kill('SIGKILL');
    await store?.close();
    await redis?.stop();
    for (const close of closing) await close();
  });

  async function newTarget(): Promise<string> {
    const { record } = issue({ scopes: ['gateway:read'] });
    await store.keys.create(record);
    return record.id;
  }

  async function startMortal() {
    const way = await startDeadlyWay(redis.port);
    return { way, mortal: await install(way.port).start() };
  }

  /** Kills at this moment; resolves with false if the request was over before. */
  async function trial(
    { way, mortal: killed }: Awaited<ReturnType<typeof startMortal>>,
    [lineOf, bodyOf]: Action,
    count: number,
    at: 'command' | 'reply',
  ): Promise<boolean> {
    const ended = once(killed.child, 'exit');
    const target = await newTarget();
    const name = `made-by-${randomUUID()}`;
    const request = { key: acting, body: bodyOf(name), headers: { 'idempotency-key': name } };
    way.dieAt(count, at, () => killed.child.kill('SIGKILL'));
    const answer = await administerAt({ url: `http://127.0.0.1:${killed.port}` })(lineOf(target), request).catch(
      () => undefined,
    );
    const died = way.isDead();
    killed.child.kill('SIGKILL');
    await ended;
    way.close();
    await checkRecords(store);
    // The client tries again elsewhere: at most one effect, and each of the others shows the same records.
    const seen = [];
    for (const { port } of survivors) {
      const administer = administerAt({ url: `http://127.0.0.1:${port}` });
      const again = await administer(lineOf(target), request);
      assert.ok([200, 201, 409].includes(again.status), again.text);
      if (answer?.status === 201) assert.equal(again.body.id, answer.body.id);
      const { body } = await administer(`GET /gateway/v1/keys/${target}`, { key: acting });
      seen.push([body.replaced_by, body.revoked_at]);
    }
    assert.deepEqual(seen[0], seen[1]);
    await checkRecords(store);
    assert.ok((await store.keys.list()).filter((key) => key.name === name).length <= 1, 'one key at most');
    return died;
  }

  const actions: Record<string, Action> = {
    creates: [() => 'POST /gateway/v1/keys', (name) => ({ name, scopes: ['gateway:read'] })],
    rotates: [(target) => `POST /gateway/v1/keys/${target}/rotate`, () => ({ overlap_seconds: 60 })],
    revokes: [(target) => `POST /gateway/v1/keys/${target}/revoke`, () => ({ reason: 'leaked' })],
    changes: [(target) => `PATCH /gateway/v1/keys/${target}`, () => ({ name: 'changed' })],
  };
  for (const [what, action] of Object.entries(actions)) {
    let kills = 0;
    let isOver = false;
    for (let count = 1; count <= STEPS_MAX; count += 1) {
      it(`leaves no half a change when it ${what}, at step ${count}`, async () => {
        if (isOver) return;
        const [atCommand, atReply] = await Promise.all([startMortal(), startMortal()]);
        const died = [
          await trial(atCommand, action, count, 'command'),
          await trial(atReply, action, count, 'reply'),
        ].filter(Boolean).length;
        kills += died;
        isOver = died === 0;
      });
    }
    it(`was killed at every step when it ${what}`, () => {
      assert.ok(isOver, 'it has more steps');
      assert.ok(kills >= 10, `${kills} kills`);
    });
  }
});

describe('a Redis that is killed while it writes down a change', () => {
  async function startOn(t: TestContext, directory: string) {
    const port = await freePort();
    const settings = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'yes'];
    const server = await spawnRedis(
      [...settings, '--appendfsync', 'always', '--dir', directory],
      'Ready to accept connections',
    );
    t.after(() => end(server));
    const store = await openRedisStore({ url: `redis://127.0.0.1:${port}`, pepperFingerprint, now: Date.now });
    return {
      store,
      async stop() {
        await store.close();
        await end(server);
      },
    };
  }

  function logIn(directory: string): string {
    const [file = ''] = readdirSync(join(directory, 'appendonlydir')).filter((name) => name.includes('.incr.'));
    return join(directory, 'appendonlydir', file);
  }

  const changes: Record<string, (store: KeyStore, target: string) => unknown> = {
    created: (store) => store.keys.create(issue().record),
    rotated: (store, target) => store.keys.rotate(target, issue().record, Date.now() + 60_000),
    revoked: (store, target) => store.keys.revoke(target, 'test', 'leaked', { leavesAnother: true }),
    changed: (store, target) =>
      store.keys.change(target, { name: 'changed', expiresAtMs: Date.now() + 60_000 }, 'test'),
  };
  for (const [what, change] of Object.entries(changes)) {
    it(`has all of it or nothing when a key is ${what}`, async (t) => {
      const directory = temporaryDirectory();
      const whole = await startOn(t, directory);
      await whole.store.organizations.create(organization(), 'test');
      const [target, other] = [issue().record, issue().record];
      for (const key of [target, other]) await whole.store.keys.create(key);
      const { size: first } = statSync(logIn(directory));
      await change(whole.store, target.id);
      const { size: last } = statSync(logIn(directory));
      assert.equal((await whole.store.audit.list({ limit: 10 })).length, 4);
      await whole.stop();
      assert.ok(last - first > 100);
      for (let size = first; size <= last; size += Math.max(1, Math.floor((last - first) / 40))) {
        const torn = temporaryDirectory();
        cpSync(directory, torn, { recursive: true });
        truncateSync(logIn(torn), size);
        const { store, stop } = await startOn(t, torn);
        await checkRecords(store);
        assert.equal((await store.audit.list({ limit: 10 })).length, size === last ? 4 : 3, `${size - first} bytes`);
        await stop();
      }
    });
  }
});
