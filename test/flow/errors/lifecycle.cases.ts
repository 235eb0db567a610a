// Every refusal that is about the gateway itself.

import assert from 'node:assert/strict';
import { type Answer, ask, openConnection, requestOf } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { GatewayOptions } from '../../support/gateway.ts';
import type { World } from '../../support/world.ts';

type Case = RefusalCase<World>;

/** A clock that fails when the stage `authorize` reads it: an unforeseen bug, with a text that must not get out. */
export const brokenClock: GatewayOptions = {
  now() {
    if (new Error().stack?.includes('/auth/authorize.ts')) throw new TypeError('SECRET of a library');
    return Date.now();
  },
};

export const bugCases: readonly Case[] = [
  {
    name: 'a bug in the gateway',
    code: 'internal_error',
    provoke: ({ call }) => call('GET /v1/things'),
    also(_answer, { gateway }) {
      const line = gateway.logLines().find(({ code }) => code === 'internal_error');
      assert.match(
        String(line?.cause),
        /TypeError: SECRET of a library\n\s+at /,
        'the log has the text that the answer must not have',
      );
      assert.equal(line?.stage, 'authorize');
    },
  },
];

/** Each of these stops the gateway it is given. */
export const drainCases: readonly Case[] = [
  {
    name: 'a request that began before the stop of the gateway, and arrived after',
    code: 'gateway_shutting_down',
    async provoke({ gateway, authorization }): Promise<Answer> {
      const connection = await openConnection(gateway.port);
      connection.send(`GET /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`);
      assert.equal((await connection.answer())?.headers.connection, 'keep-alive');
      connection.send('GET /v1/things HTTP/1.1\r\nHost: a\r\n');
      // When this is answered, the gateway has read the half request. Else its connection would count as idle.
      await ask(gateway.port, requestOf('GET /v1/nothing'));
      const stopped = gateway.stop();
      connection.send(`Authorization: ${authorization}\r\n\r\n`);
      const answer = await connection.answer();
      assert.ok(answer);
      await connection.closed;
      connection.destroy();
      await stopped;
      return answer;
    },
  },
];
