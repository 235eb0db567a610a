import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Configuration } from '../../../gateway/configuration.ts';
import { createParts } from '../../../gateway/wiring/parts.ts';

const next = {} as Configuration;
const inForce = {} as Configuration;

function three(events: string[]) {
  const parts = createParts();
  for (const name of ['first', 'second', 'third']) {
    parts.add({
      name,
      check: () => [{ reason: `${name} objects.` }] as never,
      apply: () => void events.push(`use ${name}`),
      status: () => ({ [name]: 'fine' }),
      drain: (ms) => void events.push(`drain ${name} ${ms}`),
      close: () => void events.push(`close ${name}`),
    });
  }
  parts.add({ name: 'silent' });
  return parts;
}

test('a configuration reaches the parts in the order of opening', () => {
  const events: string[] = [];
  three(events).apply(next, inForce);
  assert.deepEqual(events, ['use first', 'use second', 'use third']);
});

test('if one part cannot use a configuration, every part uses the earlier one', () => {
  const parts = createParts();
  const used = new Map<string, Configuration>();
  const part = (name: string) => ({ name, apply: (given: Configuration) => void used.set(name, given) });
  parts.add(part('above'));
  parts.add({
    name: 'failing',
    apply() {
      throw new Error('cannot use it');
    },
  });
  parts.add(part('below'));
  assert.throws(() => parts.apply(next, inForce), /cannot use it/);
  assert.equal(used.get('above'), inForce);
  assert.equal(used.get('below'), inForce);
});

test('mistakes and status of all parts come together', () => {
  const parts = three([]);
  assert.deepEqual(
    parts.check(next).map(({ reason }) => reason),
    ['first objects.', 'second objects.', 'third objects.'],
  );
  assert.deepEqual(parts.status(), { first: 'fine', second: 'fine', third: 'fine' });
});

test('parts drain and close in reverse', async () => {
  const events: string[] = [];
  const parts = three(events);
  await parts.drain(50);
  await parts.close();
  assert.deepEqual(events, [
    ...['drain third 50', 'drain second 50', 'drain first 50'],
    ...['close third', 'close second', 'close first'],
  ]);
});

test('a part that cannot be closed keeps no other part open', async () => {
  const events: string[] = [];
  const parts = three(events);
  parts.add({ name: 'stuck', close: () => Promise.reject(new Error('stuck')) });
  await assert.rejects(parts.close(), /stuck/);
  assert.deepEqual(events, ['close third', 'close second', 'close first']);
});
