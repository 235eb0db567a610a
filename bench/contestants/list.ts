// The list of contestants.

import { type Contestant, type Prepared, type Surroundings, startNodeProxy } from '../contestants.ts';
import { commandExists } from '../machine.ts';
import { prepareGateway } from './gateway.ts';
import { startNaive } from './naive.ts';
import { startNginx } from './nginx.ts';
import { hasLua, startNginxLua } from './nginx-lua.ts';

export interface Entry {
  /** For `--only`. */
  readonly id: string;
  readonly isGateway: boolean;
  /** The missing program of a contestant; undefined if it can take part. */
  missing(): string | undefined;
  prepare(surroundings: Surroundings): Prepared;
}

/** The base of all comparisons. */
export const FLOOR = 'floor';
export const GATEWAY = 'gateway-redis';
export const EMBEDDED_GATEWAY = 'gateway-embedded';

const always = () => undefined;

/** For contestants that have nothing to do before their start. */
const startedBy =
  (start: (surroundings: Surroundings) => Promise<Contestant>): Entry['prepare'] =>
  (surroundings) => ({ start: () => start(surroundings) });

function nodeProxy(id: string, file: string, name: string): Entry {
  return {
    id,
    isGateway: false,
    missing: always,
    prepare: startedBy(async (surroundings) => ({
      name,
      port: surroundings.port,
      keys: surroundings.keys,
      process: await startNodeProxy(file, surroundings),
    })),
  };
}

export const CONTESTANTS: readonly Entry[] = [
  nodeProxy(FLOOR, 'floor-proxy.ts', 'floor: node:http + undici'),
  {
    id: GATEWAY,
    isGateway: true,
    missing: always,
    prepare: (surroundings) =>
      prepareGateway(surroundings, { name: 'gateway: all on, Redis', redisUrl: surroundings.redisUrl }),
  },
  {
    id: EMBEDDED_GATEWAY,
    isGateway: true,
    missing: always,
    prepare: (surroundings) => prepareGateway(surroundings, { name: 'gateway: all on, embedded' }),
  },
  nodeProxy('express', 'express-proxy.ts', 'express + http-proxy-middleware'),
  nodeProxy('fastify', 'fastify-proxy.ts', '@fastify/http-proxy'),
  { id: 'naive', isGateway: false, missing: always, prepare: startedBy(startNaive) },
  {
    id: 'nginx',
    isGateway: false,
    missing: () => (commandExists('nginx') ? undefined : 'apt-get install nginx'),
    prepare: startedBy(startNginx),
  },
  {
    id: 'nginx-lua',
    isGateway: false,
    missing: () =>
      commandExists('nginx') && hasLua() ? undefined : 'apt-get install nginx libnginx-mod-http-lua lua-nginx-redis',
    prepare: startedBy(startNginxLua),
  },
];

/** The contestant with this id. */
export function entryOf(id: string): Entry {
  const entry = CONTESTANTS.find((one) => one.id === id);
  if (entry === undefined) throw new Error(`${id}: there are ${CONTESTANTS.map((one) => one.id).join(', ')}.`);
  return entry;
}
