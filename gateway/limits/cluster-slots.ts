// Finds the server of a Redis Cluster that holds a key.

import { connectRedis } from '../redis/client.ts';

const SLOTS = 16_384;
const ANSWER_MAX_MS = 1000;

/** The slot of a key (Redis Cluster specification, "Key distribution model"): CRC16/XMODEM of its hash tag, or of the whole key. */
export function slotOf(key: string): number {
  const opening = key.indexOf('{');
  const closing = opening < 0 ? -1 : key.indexOf('}', opening + 1);
  const hashed = closing > opening + 1 ? key.slice(opening + 1, closing) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}

/** URL of the server by slot; empty for a slot without a server. */
export type SlotMap = readonly (URL | undefined)[];

/**
 * Reads the map from one server, on a connection of its own, because this happens only after a failure. Rejects if the server does not
 * answer.
 */
export async function readSlotMap(server: URL): Promise<SlotMap> {
  const opened = Promise.withResolvers<void>();
  const client = connectRedis({
    url: server.href,
    commandTimeoutMs: ANSWER_MAX_MS,
    onReady: opened.resolve,
    onLost: opened.reject,
  });
  try {
    await opened.promise;
    return toSlotMap((await client.call('CLUSTER', ['SLOTS'])) as Ranges, server);
  } finally {
    client.disconnect();
  }
}

/** First slot, last slot, the master, replicas. A server that does not know its own host name leaves it empty. */
type Ranges = readonly (readonly [number, number, readonly [string | null, number, ...unknown[]], ...unknown[]])[];

function toSlotMap(ranges: Ranges, source: URL): SlotMap {
  const map = Array.from<URL | undefined>({ length: SLOTS });
  for (const [first, last, [host, port]] of ranges) {
    const hostname = host ? (host.includes(':') ? `[${host}]` : host) : source.hostname;
    map.fill(Object.assign(new URL(source), { hostname, port: String(port) }), first, last + 1);
  }
  return map;
}
