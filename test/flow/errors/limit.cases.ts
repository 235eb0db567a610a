// Every refusal that is about how much.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createApiKey } from '../../../gateway/auth/api-key.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { GatewayOptions } from '../../support/gateway.ts';
import type { World } from '../../support/world.ts';

type Case = RefusalCase<World>;

/** Two requests a minute, and three failures per address. */
export const tightLimits: GatewayOptions = {
  limits: { tiers: { standard: { requests: 2 } }, addresses: { failures: 3, windowSeconds: 30 } },
};

export const limitCases: readonly Case[] = [
  {
    name: 'the third request of an organization that may make two',
    code: 'rate_limited',
    async provoke({ call }) {
      for (const left of ['1', '0']) {
        const { status, headers } = await call('GET /v1/things');
        assert.deepEqual([status, headers['x-ratelimit-remaining']], [200, left]);
      }
      return call('GET /v1/things');
    },
    also({ headers, error }, { upstream }) {
      assert.equal(upstream.received.length, 2);
      const wait = Number(headers['retry-after']);
      assert.ok(wait > 50 && wait <= 60);
      assert.equal(headers['ratelimit-policy'], '"organization";q=2;w=60');
      assert.equal(headers.ratelimit, `"organization";r=0;t=${wait}`);
      assert.equal(headers['x-ratelimit-limit'], '2');
      assert.equal(headers['x-ratelimit-remaining'], '0');
      assert.ok(Math.abs(Number(headers['x-ratelimit-reset']) - Date.now() / 1000 - wait) < 3);
      assert.deepEqual(error.violated_policies, ['organization']);
    },
  },
  {
    name: 'the fourth failure from one address',
    code: 'auth_attempts_limited',
    async provoke({ call }) {
      const guess = () => call('GET /v1/things', { Authorization: `Bearer ${createApiKey('live', randomBytes)}` });
      for (let failures = 0; failures < 3; failures++) assert.equal((await guess()).status, 401);
      return guess();
    },
    async also({ headers }, { call, gateway }) {
      const wait = Number(headers['retry-after']);
      assert.ok(wait > 0 && wait <= 30);
      const options = await call('OPTIONS /v1/things', { Authorization: undefined });
      assert.equal(options.headers['x-error-code'], 'auth_attempts_limited');
      assert.equal(gateway.logLines().find(({ method }) => method === 'OPTIONS')?.stage, 'throttle');
      assert.equal(headers['x-ratelimit-limit'], undefined, 'no counter of any organization');
      const known = await call('GET /v1/things');
      assert.equal(known.headers['x-error-code'], 'rate_limited', 'a key known to be good gets past this stage');
    },
  },
];

/** Counters in a Redis that has gone, and the wish to refuse without it. */
export const awayCases: readonly Case[] = [
  {
    name: 'counters that are away where that is to be refused',
    code: 'gateway_overloaded',
    provoke: ({ call }) => call('GET /v1/things'),
    also: (_answer, { upstream }) => assert.deepEqual(upstream.received, []),
  },
];
