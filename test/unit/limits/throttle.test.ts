import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { Admitted } from '../../../gateway/exchange/exchange.ts';
import { createThrottle, type ThrottleOptions } from '../../../gateway/limits/addresses/throttle.ts';
import { admitted } from './parties.ts';

function setUp({ failures = 3, ...options }: Partial<ThrottleOptions> & { failures?: number } = {}) {
  let nowMs = 1_795_190_400_000;
  let rules = { failures, windowSeconds: 60 };
  const settings = {
    rules: () => rules,
    isKnownCaller: () => false,
    mayLackKeys: () => false,
    now: () => nowMs,
  };
  const { throttle, countRefusal } = createThrottle({ ...settings, ...options });
  return {
    countRefusal,
    useRules(next: typeof rules) {
      rules = next;
    },
    advance(ms: number) {
      nowMs += ms;
    },
    async fail(address: string, times: number, error = new GatewayError('api_key_invalid')) {
      for (let count = 0; count < times; count += 1) countRefusal({ clientAddress: address }, error);
      await turn();
    },
    /** Retry-After, or nothing if the request passes. */
    refused(address: string): number | undefined {
      try {
        throttle(admitted(address));
        return undefined;
      } catch (error) {
        assert.ok(error instanceof GatewayError && error.code === 'auth_attempts_limited');
        return error.details.retryAfterSeconds;
      }
    },
  };
}

test('an address that has used its failures up waits for the end of its window', async () => {
  const door = setUp();
  await door.fail('192.0.2.1', 2);
  assert.equal(door.refused('192.0.2.1'), undefined);
  door.advance(10_500);
  await door.fail('192.0.2.1', 1);
  assert.equal(door.refused('192.0.2.1'), 50);
  assert.equal(door.refused('192.0.2.2'), undefined);
  door.advance(49_499);
  assert.equal(door.refused('192.0.2.1'), 1);
  door.advance(1);
  assert.equal(door.refused('192.0.2.1'), undefined);
});

test('failures in the next window count anew', async () => {
  const door = setUp();
  await door.fail('192.0.2.1', 3);
  door.advance(60_000);
  await door.fail('192.0.2.1', 2);
  assert.equal(door.refused('192.0.2.1'), undefined);
  await door.fail('192.0.2.1', 1);
  assert.equal(door.refused('192.0.2.1'), 60);
});

test('failures while blocked do not prolong the block', async () => {
  const door = setUp();
  await door.fail('192.0.2.1', 3);
  door.advance(59_000);
  await door.fail('192.0.2.1', 50);
  assert.equal(door.refused('192.0.2.1'), 1);
  door.advance(1_000);
  assert.equal(door.refused('192.0.2.1'), undefined);
});

test('a caller with known good credentials passes behind a blocked address', async () => {
  const isKnownCaller = ({ clientAddress }: Admitted) => clientAddress.endsWith('::7');
  const door = setUp({ isKnownCaller });
  await door.fail('2001:db8::1', 3);
  assert.equal(door.refused('2001:db8::2'), 60, 'the whole /64 is one address');
  assert.equal(door.refused('2001:db8::7'), undefined);
});

test('an IPv4 address and its IPv6 form are one', async () => {
  const door = setUp();
  await door.fail('192.0.2.1', 2);
  await door.fail('::ffff:192.0.2.1', 1);
  assert.equal(door.refused('::ffff:c000:201'), 60);
});

test('new rules keep the counts, and end open windows at their former end', async () => {
  const door = setUp();
  await door.fail('192.0.2.1', 3);
  await door.fail('192.0.2.2', 2);
  door.useRules({ failures: 5, windowSeconds: 10 });
  assert.equal(door.refused('192.0.2.1'), 60);
  await door.fail('192.0.2.2', 2);
  assert.equal(door.refused('192.0.2.2'), undefined);
  await door.fail('192.0.2.2', 1);
  assert.equal(door.refused('192.0.2.2'), 60);

  await door.fail('192.0.2.3', 5);
  assert.equal(door.refused('192.0.2.3'), 10);
  door.advance(10_000);
  assert.equal(door.refused('192.0.2.3'), undefined);
  assert.equal(door.refused('192.0.2.1'), 50);
});

test('refusals of credentials, paths and methods count; refusals of requests, and refusals by an upstream, do not', async () => {
  const door = setUp({ failures: 1 });
  for (const error of [
    new GatewayError('validation_failed'),
    new GatewayError('internal_error'),
    new GatewayError('resource_missing', { refusedByUpstream: true }),
  ]) {
    door.countRefusal({ clientAddress: '192.0.2.1' }, error);
    await turn();
    assert.equal(door.refused('192.0.2.1'), undefined, error.code);
  }
  for (const [index, code] of (['api_key_invalid', 'insufficient_scope', 'route_not_found'] as const).entries()) {
    door.countRefusal({ clientAddress: `198.51.100.${index}` }, new GatewayError(code));
    await turn();
    assert.equal(door.refused(`198.51.100.${index}`), 60, code);
  }
});

test('unknown keys do not count while the key store has lost its contents; other refusals do', async () => {
  let isLost = true;
  const door = setUp({ mayLackKeys: () => isLost });
  await door.fail('192.0.2.1', 50);
  await door.fail('192.0.2.1', 50, new GatewayError('token_invalid', { hint: 'organization' }));
  assert.equal(door.refused('192.0.2.1'), undefined);
  await door.fail('192.0.2.2', 3, new GatewayError('api_key_missing'));
  assert.equal(door.refused('192.0.2.2'), 60);
  isLost = false;
  await door.fail('192.0.2.1', 2);
  assert.equal(door.refused('192.0.2.1'), undefined, 'the earlier ones were not counted');
  await door.fail('192.0.2.1', 1);
  assert.equal(door.refused('192.0.2.1'), 60);
});
