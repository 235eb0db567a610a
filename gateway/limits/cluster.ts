// Counters on a Redis Cluster: one link per server that has slots, each with a health state of its own, so that the loss of one server does
// not affect the limits on the others.

import { readSlotMap, type SlotMap, slotOf } from './cluster-slots.ts';
import { createRedisLink, type RedisLink } from './redis-link.ts';
import type { Servers, ServersOptions } from './servers.ts';

/** While a server is away, another one may take over its slots. */
const READ_AGAIN_MS = 500;

export interface ClusterServersOptions extends ServersOptions {
  readonly seeds: readonly URL[];
}

interface Server {
  readonly url: URL;
  readonly link: RedisLink;
  probeKey: string;
  /** Reason why the server is away; absent while it is up. */
  reason: string | undefined;
}

/** Reads the slot map at start, and again whenever a server fails or has lost a slot. */
export function createClusterServers({ seeds, onChange, ...options }: ClusterServersOptions): Servers {
  const servers = new Map<string, Server>();
  const opened = Promise.withResolvers<void>();
  let owners: readonly (Server | undefined)[] = [];
  let up: boolean | undefined;
  let closed = false;
  let reading = false;
  let nextReading: NodeJS.Timeout | undefined;

  function openServer(url: URL, probeKey: string): Server {
    const link = createRedisLink({
      ...options,
      url: url.href,
      probeKey: () => server.probeKey,
      onMisplaced() {
        // Moving a slot may take long, and every request for it fails meanwhile.
        if (nextReading === undefined) void read();
        readLater();
      },
      onChange(isUp, reason) {
        server.reason = isUp ? undefined : reason;
        tell();
        if (!isUp) readLater();
      },
    });
    const server: Server = { url, link, probeKey, reason: 'not connected yet' };
    return server;
  }

  /** Servers that keep a slot keep their link, and with it their health state. */
  function apply(map: SlotMap): void {
    const probeKeys = probeKeysOf(map);
    for (const [name, probeKey] of probeKeys) {
      const server = servers.get(name);
      if (server === undefined) servers.set(name, openServer(new URL(name), probeKey));
      else server.probeKey = probeKey;
    }
    owners = map.map((url) => url && servers.get(url.href));
    for (const [name, { link }] of servers) {
      if (probeKeys.has(name)) continue;
      servers.delete(name);
      link.close();
    }
  }

  async function read(): Promise<void> {
    if (reading || closed) return;
    reading = true;
    try {
      const healthy = [...servers.values()].filter(({ link }) => link.isUp()).map(({ url }) => url);
      const map = await Promise.any((healthy.length > 0 ? healthy : allKnown()).map(readSlotMap));
      if (closed) return;
      apply(map);
      await Promise.all([...servers.values()].map(({ link }) => link.opened));
      tell();
    } catch (cause) {
      tell((cause as AggregateError).errors[0]?.message ?? 'the Cluster returned no slot map');
    } finally {
      reading = false;
      opened.resolve();
      if (!up) readLater();
    }
  }

  function allKnown(): URL[] {
    const urls = [...seeds, ...[...servers.values()].map(({ url }) => url)];
    return [...new Map(urls.map((url) => [url.href, url])).values()];
  }

  function readLater(): void {
    if (closed) return;
    nextReading ??= setTimeout(() => {
      nextReading = undefined;
      void read();
    }, READ_AGAIN_MS).unref();
  }

  /** Reports the first server that is away; the status of the Cluster shows the others. */
  function tell(failure?: string): void {
    const away = [...servers.values()].find(({ reason }) => reason !== undefined);
    const complete = owners.length > 0 && owners.every((owner) => owner !== undefined);
    const isUp = away === undefined && complete && failure === undefined;
    if (closed || isUp === up) return;
    up = isUp;
    const lost = away && `${away.url.host}: ${away.reason}`;
    onChange(isUp, isUp ? 'the counters can be written' : (lost ?? failure ?? 'there are slots that no server has'));
  }

  void read();
  return {
    linkOf: (key) => owners[slotOf(key)]?.link,
    all: () => [...servers.values()].map(({ link }) => link),
    areUp: () => up === true,
    opened: opened.promise,
    close() {
      closed = true;
      clearTimeout(nextReading);
      for (const { link } of servers.values()) link.close();
    },
  };
}

/** Returns for each server the name of a probe counter in one of its slots. */
function probeKeysOf(map: SlotMap): Map<string, string> {
  const keys = new Map<string, string>();
  const names = new Set(map.flatMap((url) => url?.href ?? []));
  for (let number = 0; keys.size < names.size; number += 1) {
    const key = `rl:{probe:${number}}`;
    const owner = map[slotOf(key)];
    if (owner !== undefined && !keys.has(owner.href)) keys.set(owner.href, key);
  }
  return keys;
}
