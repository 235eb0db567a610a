// The list of contestants.

import { type Contestant, type Surroundings, startNodeProxy } from '../contestants.ts';
import { commandExists } from '../machine.ts';
import { startGateway } from './gateway.ts';
import { startNaive } from './naive.ts';
import { startNginx } from './nginx.ts';
import { hasLua, startNginxLua } from './nginx-lua.ts';

export interface Entry {
  /** For `--only`. */
  readonly id: string;
  readonly isGateway: boolean;
  /** The missing program of a contestant; undefined if it can take part. */
  missing(): string | undefined;
  start(surroundings: Surroundings): Promise<Contestant>;
}

/** The base of all comparisons. */
export const FLOOR = 'floor';

const always = () => undefined;

function nodeProxy(id: string, file: string, name: string): Entry {
  return {
    id,
    isGateway: false,
    missing: always,
    start: async (surroundings) => ({
      name,
      port: surroundings.port,
      keys: surroundings.keys,
      process: await startNodeProxy(file, surroundings),
    }),
  };
}

export const entries: readonly Entry[] = [
  nodeProxy(FLOOR, 'floor-proxy.ts', 'floor: node:http + undici'),
  {
    id: 'gateway-redis',
    isGateway: true,
    missing: always,
    start: (surroundings) =>
      startGateway(surroundings, { name: 'gateway: all on, Redis', redisUrl: surroundings.redisUrl }),
  },
  {
    id: 'gateway-embedded',
    isGateway: true,
    missing: always,
    start: (surroundings) => startGateway(surroundings, { name: 'gateway: all on, embedded' }),
  },
  nodeProxy('express', 'express-proxy.ts', 'express + http-proxy-middleware'),
  nodeProxy('fastify', 'fastify-proxy.ts', '@fastify/http-proxy'),
  { id: 'naive', isGateway: false, missing: always, start: startNaive },
  {
    id: 'nginx',
    isGateway: false,
    missing: () => (commandExists('nginx') ? undefined : 'apt-get install nginx'),
    start: startNginx,
  },
  {
    id: 'nginx-lua',
    isGateway: false,
    missing: () =>
      commandExists('nginx') && hasLua() ? undefined : 'apt-get install nginx libnginx-mod-http-lua lua-nginx-redis',
    start: startNginxLua,
  },
];
