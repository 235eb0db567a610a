// Every refusal that is about open streams.

import assert from 'node:assert/strict';
import { openConnection, requestOf } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { GatewayOptions } from '../../support/gateway.ts';
import type { World } from '../../support/world.ts';

/** One open stream per organization. */
export const oneStream: GatewayOptions = { limits: { tiers: { standard: { requests: 1000, openStreams: 1 } } } };

export const streamPaths = {
  '/v1/events': {
    get: {
      operationId: 'readEvents',
      security: [{ apiKey: ['events:read'] }],
      responses: { 200: { description: 'events', content: { 'text/event-stream': {} } } },
    },
  },
};

export const streamCases: readonly RefusalCase<World>[] = [
  {
    name: 'the second stream of an organization that may have one',
    code: 'too_many_streams',
    async provoke({ upstream, gateway, authorization, call }) {
      upstream.plays((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n'));
      const open = await openConnection(gateway.port);
      open.send(requestOf('GET /v1/events', { Authorization: authorization }));
      await new Promise((resolve) => open.socket.once('data', resolve));
      return call('GET /v1/events');
    },
    also({ error }, { upstream }) {
      assert.equal(error.open_streams_max, 1);
      assert.equal(upstream.received.length, 1);
    },
  },
];
