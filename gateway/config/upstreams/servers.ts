// The shape of `servers` in config/upstreams.yaml: more addresses of an entry, for operations that its contracts declare on other hosts.
// Each server becomes a separate upstream with the settings of the entry.

import { z } from 'zod';
import { nameOfServer } from '../../shared/contracts/upstreams.ts';
import type { Mistake } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { isServerAddress } from '../parts.ts';
import { originOfAddress, pathOfAddress } from './address-paths.ts';

const address = z
  .string()
  .refine(isServerAddress, { error: 'must be http://host:port with or without a path' })
  .meta({ pattern: '^https?://[^/?#\\s@]+(/[A-Za-z0-9._~-]+)*/?$' });
const addresses = z
  .union([address, z.array(address).min(1, 'must name at least one address')])
  .transform((value) => (typeof value === 'string' ? [value] : value));
const byMode = z.strictObject({
  live: addresses.describe('The targets of requests with live keys.'),
  test: addresses.optional().describe('The targets of requests with test keys. Without it, they are refused.'),
});

/** The address of the server in the document, with values in place of variables. */
const declared = z
  .string()
  .refine((text) => /^https?:\/\/[^/?#\s@]+(?:\/[^?#\s]*)?$/.test(text) && URL.canParse(text), {
    error: 'must be the address of a server as the document has it: https://host with or without a path',
  });

export const servers = z.record(
  declared,
  z.union([addresses.transform((live) => ({ live })), byMode], {
    error: 'must be http://host:port, a list of these, or { live, test }',
  }),
);

export interface WithServers {
  readonly servers: Readonly<
    Record<string, { readonly live: readonly string[]; readonly test?: readonly string[] | undefined }>
  >;
}

/** A server of a document, and the upstream that replaces it. */
interface MappedServer {
  /** Host and path of the server, without a slash at the end. */
  readonly server: string;
  readonly upstream: string;
  /** Takes the place of the server's path. */
  readonly path: string;
}

interface NamedServer extends MappedServer {
  /** The key in upstreams.yaml. */
  readonly key: string;
  /** Origins. */
  readonly live: readonly string[];
  readonly test: readonly string[] | undefined;
}

/** Returns the servers of an entry. */
export function serversOf(name: string, { servers }: WithServers): NamedServer[] {
  return Object.entries(servers ?? {}).map(([key, { live, test }]) => {
    const { host, pathname } = new URL(key);
    const server = host + pathname.replace(/\/+$/, '');
    return {
      key,
      server,
      upstream: nameOfServer(name, server),
      path: pathOfAddress(live[0] as string),
      live: live.map(originOfAddress),
      test: test?.map(originOfAddress),
    };
  });
}

/** Pushes a mistake for a server that is listed twice, and for a server whose addresses have different paths. */
export function checkServers(
  upstreams: Readonly<Record<string, WithServers>>,
  source: Source,
  mistakes: Mistake[],
): void {
  for (const [name, entry] of Object.entries(upstreams)) {
    const known = new Set<string>();
    for (const { key, upstream } of serversOf(name, entry)) {
      const place = ['upstreams', name, 'servers', key];
      const { live, test = [] } = entry.servers[key] as { live: readonly string[]; test?: readonly string[] };
      if (known.has(upstream)) {
        const reason = 'the same server stands there twice: http or https makes no difference.';
        mistakes.push(source.mistakeAtKey(place, reason, 'Keep one of them.'));
      }
      known.add(upstream);
      const paths = [...new Set([...live, ...test].map(pathOfAddress))];
      if (paths.length === 1) continue;
      const reason = `its addresses have different paths (${paths.map((path) => path || '/').join(', ')}).`;
      mistakes.push(source.mistakeAtKey(place, reason, 'Write the same path behind each address.'));
    }
  }
}

/** Pushes a mistake for each server without an operation. */
export function checkServersUsed(
  upstreams: Readonly<Record<string, WithServers>>,
  operations: readonly { readonly upstream: string }[],
  source: Source,
  mistakes: Mistake[],
): void {
  const used = new Set(operations.map(({ upstream }) => upstream));
  for (const [name, entry] of Object.entries(upstreams)) {
    for (const { key, upstream } of serversOf(name, entry)) {
      if (used.has(upstream)) continue;
      const reason = `no operation of these contracts has the server ${key}.`;
      const remedy = 'Write it as the documents have it under servers, or remove it.';
      mistakes.push(source.mistakeAtKey(['upstreams', name, 'servers', key], reason, remedy));
    }
  }
}

interface Entry extends WithServers {
  readonly tls?: object | undefined;
}

/** Returns the entries and their other servers, as upstreams. */
export function withServers<One extends Entry>(upstreams: Readonly<Record<string, One>>): Record<string, One> {
  const all = Object.entries(upstreams).flatMap(([name, entry]): [string, One][] => {
    const further = serversOf(name, entry).map(({ upstream, live, test }): [string, One] => [
      upstream,
      { ...entry, live, test, contracts: [], tunnels: [], servers: {}, addressPath: undefined },
    ]);
    return [[name, entry], ...further];
  });
  return Object.fromEntries(all);
}
