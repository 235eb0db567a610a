// The servers of a Redis Cluster that hold counters. Each server has its own link and health state, because the loss of one server must
// not affect the limits on the others.

import { askRedis } from '../../../redis/client.ts';
import { SLOTS, slotOf } from '../../../redis/slot.ts';
import { type Machine, REAL_MACHINE, type Timer } from '../../../shared/machine.ts';
import { RedisLink, type RedisLinkOptions } from './link.ts';

/** The pause between two reads of the slot map while a server cannot be reached. Another server may take over its slots. */
const READ_AGAIN_MS = 500;
/** Timeout of the command that reads the slot map. */
const ANSWER_MAX_MS = 1000;

/** One server, the current master that Sentinels name, or the servers of a Cluster. */
export interface RedisServers {
  /** Returns the link to the server that holds a counter, and all counters with its hash tag; undefined while the server is unknown. */
  linkTo(counter: string): RedisLink | undefined;
  all(): readonly RedisLink[];
  /** Whether all servers accept writes. */
  areUp(): boolean;
  /** Resolves when the first attempt to connect has succeeded or failed. */
  readonly firstAttempt: Promise<void>;
  close(): void;
}

/** `onChange` is called when all servers accept writes, and when the first server stops accepting them. */
export type RedisServersOptions = Pick<
  RedisLinkOptions,
  'url' | 'deadlineMs' | 'probeEveryMs' | 'onChange' | 'connect' | 'machine'
>;

interface ClusterServersOptions extends RedisServersOptions {
  readonly seeds: readonly URL[];
}

interface Server {
  readonly url: URL;
  readonly link: RedisLink;
  probeKey: string;
  /** The reason why the server cannot be reached; undefined while it can. */
  reason: string | undefined;
}

/** Reads the slot map at start, and again whenever a server fails or has lost a slot. */
export class ClusterServers implements RedisServers {
  readonly firstAttempt: Promise<void>;
  readonly #options: ClusterServersOptions;
  readonly #machine: Machine;
  readonly #servers = new Map<string, Server>();
  readonly #endFirstAttempt: () => void;
  #owners: readonly (Server | undefined)[] = [];
  /** Whether the last report said that all servers accept writes; undefined before the first report. */
  #isUp: boolean | undefined;
  #isClosed = false;
  #isReading = false;
  #nextReading: Timer | undefined;

  constructor(options: ClusterServersOptions) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.firstAttempt = promise;
    this.#endFirstAttempt = resolve;
    this.#options = options;
    this.#machine = options.machine ?? REAL_MACHINE;
    void this.#read();
  }

  linkTo(counter: string): RedisLink | undefined {
    return this.#owners[slotOf(counter)]?.link;
  }

  all(): RedisLink[] {
    return [...this.#servers.values()].map(({ link }) => link);
  }

  areUp(): boolean {
    return this.#isUp === true;
  }

  close(): void {
    this.#isClosed = true;
    this.#machine.clearTimeout(this.#nextReading);
    for (const link of this.all()) link.close();
  }

  #openServer(url: URL, probeKey: string): Server {
    const link = new RedisLink({
      ...this.#options,
      url: url.href,
      probeKey: () => server.probeKey,
      onMisplaced: () => {
        // While a slot is being moved, which may take long, each request for it calls this function. The map is therefore read at most once
        // per pause.
        if (this.#nextReading === undefined) void this.#read();
        this.#readLater();
      },
      onChange: (reason) => {
        server.reason = reason;
        this.#reportState();
        if (reason !== undefined) this.#readLater();
      },
    });
    const server: Server = { url, link, probeKey, reason: 'not connected yet' };
    return server;
  }

  /** Applies a new slot map. A server that keeps at least one slot keeps its link, and with it its health state. */
  #apply(map: SlotMap): void {
    const servers = this.#servers;
    const probeKeys = probeKeysOf(map);
    for (const [name, probeKey] of probeKeys) {
      const server = servers.get(name);
      if (server === undefined) servers.set(name, this.#openServer(new URL(name), probeKey));
      else server.probeKey = probeKey;
    }
    this.#owners = map.map((url) => url && servers.get(url.href));
    for (const [name, { link }] of servers) {
      if (probeKeys.has(name)) continue;
      servers.delete(name);
      link.close();
    }
  }

  async #read(): Promise<void> {
    if (this.#isReading || this.#isClosed) return;
    this.#isReading = true;
    try {
      const map = await Promise.any(this.#sources().map(readSlotMap));
      if (this.#isClosed) return;
      this.#apply(map);
      await Promise.all(this.all().map((link) => link.firstAttempt));
      this.#reportState();
    } catch (cause) {
      this.#reportState((cause as AggregateError).errors[0]?.message ?? 'the Cluster returned no slot map');
    } finally {
      this.#isReading = false;
      this.#endFirstAttempt();
      if (!this.#isUp) this.#readLater();
    }
  }

  /** The servers that are asked for the slot map: the available servers, or all known servers if none is available. */
  #sources(): URL[] {
    const known = [...this.#servers.values()];
    const healthy = known.filter(({ link }) => link.isUp()).map(({ url }) => url);
    if (healthy.length > 0) return healthy;
    const urls = [...this.#options.seeds, ...known.map(({ url }) => url)];
    return [...new Map(urls.map((url) => [url.href, url])).values()];
  }

  #readLater(): void {
    if (this.#isClosed) return;
    this.#nextReading ??= this.#machine
      .setTimeout(() => {
        this.#nextReading = undefined;
        void this.#read();
      }, READ_AGAIN_MS)
      .unref();
  }

  /** Reports the first server that cannot be reached; the status of the Cluster shows the others. */
  #reportState(failure?: string): void {
    const away = [...this.#servers.values()].find(({ reason }) => reason !== undefined);
    const isComplete = this.#owners.length > 0 && this.#owners.every((owner) => owner !== undefined);
    const isUp = away === undefined && isComplete && failure === undefined;
    if (this.#isClosed || isUp === this.#isUp) return;
    this.#isUp = isUp;
    const lost = away && `${away.url.host}: ${away.reason}`;
    this.#options.onChange(isUp ? undefined : (lost ?? failure ?? 'there are slots that no server has'));
  }
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

/** URL of the server by slot; empty for a slot without a server. */
type SlotMap = readonly (URL | undefined)[];

/**
 * Reads the map from one server. Opens a new connection for it, because the map is read only at the start and after a failure. Rejects if
 * the server does not answer.
 */
async function readSlotMap(server: URL): Promise<SlotMap> {
  return askRedis(server.href, ANSWER_MAX_MS, async (client) =>
    toSlotMap((await client.call('CLUSTER', ['SLOTS'])) as Ranges, server),
  );
}

/**
 * The reply of `CLUSTER SLOTS`: first slot, last slot, the master, replicas. A server that does not know its host name leaves the name
 * empty.
 */
type Ranges = readonly (readonly [number, number, readonly [string | null, number, ...unknown[]], ...unknown[]])[];

function toSlotMap(ranges: Ranges, source: URL): SlotMap {
  const map = Array.from<URL | undefined>({ length: SLOTS });
  for (const [first, last, [host, port]] of ranges) {
    const hostname = host ? (host.includes(':') ? `[${host}]` : host) : source.hostname;
    map.fill(Object.assign(new URL(source), { hostname, port: String(port) }), first, last + 1);
  }
  return map;
}
