// A service in two versions, of which the first is deprecated and one operation of it has ended.

import type { GatewayOptions } from './gateway.ts';
import { thingsContract } from './things.ts';
import { createWorld, type World } from './world.ts';

const answered = { 200: { description: 'done', content: { 'application/json': { schema: { type: 'object' } } } } };
const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

/** The moment at which the tests take place. */
export const NOW_MS = Date.parse('2027-06-01T12:00:00Z');

export const secondVersion = {
  openapi: '3.1.1',
  info: { title: 'Things', version: '2' },
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  security: [{ apiKey: ['things:read'] }],
  paths: {
    '/v2/things': { get: { operationId: 'listThings2', responses: answered } },
    '/v2/things/{id}': { get: { operationId: 'getThing2', parameters: [id], responses: answered } },
  },
};

export const GUIDE = 'https://docs.example.com/migrate';

/** Everything below /v1 but the operations of `operations` is deprecated; `placeOrder` has ended, `getStrict` in its own time. */
export const lives = {
  versions: {
    v1: { released: '2025-01-15', deprecated: '2027-01-15', sunset: '2028-01-17', successor: 'v2', guide: GUIDE },
    v2: { released: '2027-01-10' },
  },
  operations: {
    placeOrder: { deprecated: '2026-01-01', sunset: '2027-02-01', successor: 'createThing' },
  },
};

/** Starts a gateway before a scripted upstream, with both versions. */
export function createTwoVersions(options: GatewayOptions = {}): Promise<World> {
  const contracts = { 'things.yaml': thingsContract(), 'things2.yaml': secondVersion };
  const entry = { contracts: ['things.yaml', 'things2.yaml'] };
  return createWorld({ contracts, gateway: lives, now: () => NOW_MS, ...options }, entry);
}
