// What the checker of orders takes for a fault of the gateway, and what it excuses.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Deployment } from '../deployment.ts';
import { BEGINNING_MS, World } from '../engine/world.ts';
import type { CommandKind, GivenCommand } from './commands.ts';
import { OrderChecker } from './orders.ts';

const LIFETIME_MS = 3_600_000;
const NAMES = 'a.test';

/** @param storeBehindMs how far the clock of the store is behind */
function begin(storeBehindMs = 0) {
  const world = new World({ seed: 'orders' });
  const deployment = new Deployment(world, 1, () => undefined);
  const commands: GivenCommand[] = [];
  const checker = new OrderChecker({
    deployment: () => deployment,
    lifetimeMs: LIFETIME_MS,
    kills: () => [],
    storeClock: () => BEGINNING_MS + world.now() - storeBehindMs,
    commands,
  });
  const command = (kind: CommandKind) => commands.push({ kind, names: NAMES, atMs: world.now(), order: undefined });
  return { world, deployment, checker, command, sentence: () => world.violation()?.message };
}

it('an order soon after a refusal is a fault', async () => {
  const { world, checker, sentence } = begin();
  checker.ordered('o1', NAMES);
  checker.ended('o1');
  await world.run(20_000);
  checker.ordered('o2', NAMES);
  assert.match(sentence() ?? '', /^o2 for a.test is ordered 20000 ms after a refusal$/);
});

it('an order follows a revocation that waited for the refused order; the next one waits', async () => {
  const { world, checker, command, sentence } = begin();
  command('revoke');
  await world.run(200);
  checker.ordered('o1', NAMES);
  await world.run(7000);
  checker.ended('o1');
  await world.run(9000);
  checker.revoked('f', NAMES);
  await world.run(10_000);
  checker.ordered('o2', NAMES);
  assert.equal(sentence(), undefined);
  await world.run(15_000);
  checker.ended('o2');
  await world.run(20_000);
  checker.ordered('o3', NAMES);
  assert.match(sentence() ?? '', /^o3 for a.test is ordered 5000 ms after a refusal$/);
});

it('a request to order ends with the refusal of its order', async () => {
  const { world, checker, command, sentence } = begin();
  checker.ordered('o1', NAMES);
  await world.run(1000);
  command('order');
  await world.run(7000);
  checker.ended('o1');
  await world.run(10_000);
  checker.ordered('o2', NAMES);
  assert.match(sentence() ?? '', /^o2 for a.test is ordered 3000 ms after a refusal$/);
});

it('an order that was lost before its refusal leaves no wait', async () => {
  const { world, deployment, checker, sentence } = begin();
  checker.ordered('o1', NAMES);
  deployment.redis.stop();
  deployment.redis.start('nothing');
  await world.run(5000);
  checker.ended('o1');
  await world.run(20_000);
  checker.ordered('o2', NAMES);
  assert.equal(sentence(), undefined);
});

it('an order that was lost while the first question about it was on its way may be made again', async () => {
  const { world, deployment, checker, sentence } = begin();
  checker.ordered('o1', NAMES);
  deployment.redis.stop();
  deployment.redis.start('nothing');
  await world.run(3000);
  checker.touched('o1', 'gateway-1');
  await world.run(20_000);
  checker.ordered('o2', NAMES);
  assert.equal(sentence(), undefined);
});

const secondOrders = [
  ['an order soon after the certificate is a fault', 0, 'o2 for a.test is ordered, although o1 was issued lately'],
  ['a certificate whose time has not come, by the clock of the store, is ordered again', LIFETIME_MS, undefined],
] as const;

for (const [title, behindMs, expected] of secondOrders) {
  it(title, async () => {
    const { world, checker, sentence } = begin(behindMs);
    checker.ordered('o1', NAMES);
    checker.touched('o1', 'gateway-1');
    const validFromMs = BEGINNING_MS - 60_000;
    checker.issued('o1', { fingerprint: 'f', validFromMs, expiresAtMs: validFromMs + LIFETIME_MS });
    checker.downloaded('o1');
    await world.run(20_000);
    checker.ordered('o2', NAMES);
    assert.equal(sentence(), expected);
  });
}

for (const isShown of [false, true]) {
  it(`an order that the authority has lost is made again${isShown ? ', unless a gateway has its certificate' : ''}`, async () => {
    const { world, checker, sentence } = begin();
    checker.ordered('o1', NAMES);
    checker.touched('o1', 'gateway-1');
    const validFromMs = BEGINNING_MS - 60_000;
    checker.issued('o1', { fingerprint: 'f', validFromMs, expiresAtMs: validFromMs + LIFETIME_MS });
    if (isShown) {
      checker.downloaded('o1');
      checker.shown('f');
    }
    checker.dropped('o1');
    await world.run(20_000);
    checker.ordered('o2', NAMES);
    assert.equal(sentence() !== undefined, isShown);
  });
}
