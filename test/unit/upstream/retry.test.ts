// When a sending that failed may be repeated, and after how long.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Forwardable as Fresh } from '../../../gateway/exchange/exchange.ts';
import { backOffMs, maySendAgain, retryReasonOf } from '../../../gateway/upstream/attempts/retry-plan.ts';
import type { AttemptFailure } from '../../../gateway/upstream/relay/relay-owner.ts';

interface Given {
  readonly method?: string;
  readonly keyed?: boolean;
  readonly idempotency?: 'optional' | 'off';
  readonly body?: 'none' | 'buffer' | 'stream';
  readonly bytesIn?: number;
  readonly headersSent?: boolean;
  readonly destroyed?: boolean;
}

function freshOf(given: Given): Fresh {
  const { method = 'GET', keyed = false, idempotency = 'optional', body = 'none', bytesIn = 0 } = given;
  const { headersSent = false, destroyed = false } = given;
  return {
    headers: new Map(keyed ? [['idempotency-key', 'k']] : []),
    operation: { method, idempotency, body: body === 'none' ? 'buffer' : body },
    response: { headersSent, destroyed },
    hasBody: body !== 'none',
    rawBody: body === 'buffer' ? Buffer.from('{}') : undefined,
    request: { readableDidRead: bytesIn > 0 },
  } as unknown as Fresh;
}

describe('the reason to send again', () => {
  const rows: readonly (readonly [AttemptFailure, boolean, number, string | undefined])[] = [
    ['lost', false, 0, 'not_sent'],
    ['timeout', false, 0, 'not_sent'],
    ['lost', true, 0, 'connection_lost'],
    ['lost', true, 200, 'connection_lost'],
    ['timeout', true, 0, 'timeout'],
    ['status', true, 502, 'status_502'],
    ['status', true, 503, 'status_503'],
    ['status', true, 504, 'status_504'],
    ['status', true, 500, undefined],
    ['status', true, 501, undefined],
    ['status', true, 429, undefined],
    ['status', true, 401, undefined],
    ['other', true, 503, undefined],
    ['other', false, 0, undefined],
  ];
  for (const [failure, wasSent, status, expected] of rows) {
    it(`of ${failure} ${wasSent ? '' : 'before it was sent '}${status || ''} is ${expected ?? 'none'}`, () => {
      assert.equal(retryReasonOf(failure, wasSent, status), expected);
    });
  }
});

describe('a request that is safe to send again', () => {
  const rows: readonly (readonly [string, Given, boolean, boolean, boolean])[] = [
    ['GET', {}, true, false, true],
    ['DELETE', { method: 'DELETE' }, true, false, true],
    ['PUT with a body', { method: 'PUT', body: 'buffer' }, true, false, true],
    ['PUT with a streamed body', { method: 'PUT', body: 'stream' }, true, false, false],
    ['POST', { method: 'POST', body: 'buffer' }, true, false, false],
    ['POST toward an upstream that honours keys', { method: 'POST', body: 'buffer' }, true, true, false],
    ['POST with a key', { method: 'POST', body: 'buffer', keyed: true }, true, false, false],
    ['POST with a key that is honoured', { method: 'POST', body: 'buffer', keyed: true }, true, true, true],
    ['PATCH with a key that is honoured', { method: 'PATCH', body: 'buffer', keyed: true }, true, true, true],
    ['POST with a key where keys are off', { method: 'POST', keyed: true, idempotency: 'off' }, true, true, false],
    ['a keyed POST with a streamed body', { method: 'POST', body: 'stream', keyed: true }, true, true, false],
    ['POST that was never sent', { method: 'POST', body: 'buffer' }, false, false, true],
    ['a stream that was never sent', { method: 'POST', body: 'stream' }, false, false, true],
    ['a stream of which a byte was read', { method: 'POST', body: 'stream', bytesIn: 1 }, false, false, false],
    ['GET with an answer that has begun', { headersSent: true }, true, false, false],
    ['GET with a client that has left', { destroyed: true }, false, false, false],
  ];
  for (const [name, given, wasSent, honours, expected] of rows) {
    it(`${expected ? 'is' : 'is not'} ${name}`, () => {
      assert.equal(maySendAgain(freshOf(given), wasSent, honours), expected);
    });
  }
});

describe('the pause before it', () => {
  it('grows, and is never the same for all', () => {
    for (const [retries, least] of [
      [0, 25],
      [1, 50],
      [2, 100],
    ] as const) {
      const pauses = Array.from({ length: 100 }, () => backOffMs(retries, undefined) as number);
      for (const pause of pauses) assert.ok(pause >= least && pause <= 2 * least, `${pause}`);
      assert.ok(new Set(pauses).size > 1);
    }
  });

  it('is the wait that the upstream names, up to two seconds', () => {
    assert.deepEqual(
      [1, 2, 3, 100_000].map((seconds) => backOffMs(0, seconds)),
      [1000, 2000, undefined, undefined],
    );
  });
});
