// The gateway with everything on: a thousand organizations, log, metrics, the nine contracts, limits in this process or in Redis.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Prepared, path, type Surroundings, startPinned } from '../contestants.ts';
import { CORES } from '../machine.ts';
import { ask, DECIDED_ANEW, LIST, requestsOf } from '../scenarios.ts';

const ORGANIZATIONS = '1000';
/** Its operations need no key. */
const PUBLIC = 'v1/memberships.yaml';
const ONE_A_DAY = { requests: 1, windowSeconds: 86_400 };

export interface GatewayOptions {
  readonly name: string;
  /** Absolute, of a tree with its packages. Default: this one. */
  readonly tree?: string;
  /** Absent: embedded stores. */
  readonly redisUrl?: string;
  /** More members of its entry in upstreams.yaml. */
  readonly entry?: object;
  /** More entries of upstreams.yaml. */
  readonly upstreams?: object;
  /** More members of gateway.yaml. */
  readonly gateway?: object;
  /** More members of limits.yaml. */
  readonly limits?: object;
}

interface PreparedGateway extends Prepared {
  /** Ids of the organizations, in the order of their keys. */
  readonly organizations: readonly string[];
}

/** Writes its configuration and makes its organizations. */
export function prepareGateway(surroundings: Surroundings, options: GatewayOptions): PreparedGateway {
  const { directory, port, upstreamUrl } = surroundings;
  const program = path(join(options.tree ?? '..', 'bin/gateway'));
  const environment = {
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_PORT: '0',
    GATEWAY_CONFIG: join(directory, 'config'),
    GATEWAY_DATA: join(directory, 'data'),
    REDIS_URL: options.redisUrl ?? '',
  };
  writeConfiguration(environment.GATEWAY_CONFIG, options, {
    platform: { contracts: contractsBut(PUBLIC), live: upstreamUrl, ...options.entry },
    open: { contracts: [PUBLIC], live: upstreamUrl, public: true },
    ...options.upstreams,
  });
  const seeded = seed(program, environment, ORGANIZATIONS, 'premium');
  const keys = seeded.map(({ key }) => key);
  const [{ key: blockedKey } = { key: '' }] = seed(program, environment, '1', 'blocked');
  return {
    organizations: seeded.map(({ id }) => id),
    async start() {
      const own = { ...environment, ...surroundings.environment };
      const child = await startPinned(program, ['start'], CORES.contestant, port, own, surroundings.output);
      const contestant = { name: options.name, port, process: child, keys, blockedKey };
      // All that their tiers let pass in a day.
      const allowed = [
        ...requestsOf(LIST, port, [blockedKey]),
        ...requestsOf(DECIDED_ANEW, port, DECIDED_ANEW.keysOf(contestant)),
      ];
      for (let at = 0; at < allowed.length; at += 64)
        await Promise.all(allowed.slice(at, at + 64).map((request) => ask(port, request)));
      return contestant;
    },
  };
}

/** The nine contracts without one of them. */
function contractsBut(one: string): string[] {
  const names = readdirSync(path('../openapi/v1')).map((name) => `v1/${name}`);
  return names.filter((name) => name !== one);
}

function writeConfiguration(directory: string, { gateway, limits }: GatewayOptions, upstreams: object): void {
  mkdirSync(directory, { recursive: true });
  const write = (file: string, content: object) => writeFileSync(join(directory, file), JSON.stringify(content));
  // All clients have one address here.
  write('gateway.yaml', { connections: { perAddress: 20_000 }, trustedProxies: ['127.0.0.1'], ...gateway });
  write('upstreams.yaml', { upstreams });
  write('limits.yaml', {
    tiers: { premium: { requests: 1_000_000 }, blocked: ONE_A_DAY, anonymous: ONE_A_DAY },
    // Refusals are measured too.
    addresses: { failures: 1_000_000, windowSeconds: 1 },
    ...limits,
  });
}

interface Seeded {
  /** Of the organization. */
  readonly id: string;
  readonly key: string;
}

/** Makes organizations with one key each. */
function seed(program: string, environment: NodeJS.ProcessEnv, count: string, tier: string): readonly Seeded[] {
  const printed = execFileSync(program, ['seed', '--organizations', count, '--tier', tier, '--json'], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  return printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Seeded);
}
