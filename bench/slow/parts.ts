// Pure: where the slowest requests of a run waited.

import { median } from '../statistics.ts';

/** As the client saw it; milliseconds of the monotonic clock. */
export interface Wait {
  readonly dueMs: number;
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** What the gateway's log line says; milliseconds. */
export interface Logged {
  /** From the arrival of the head to the end of the answer. */
  readonly durationMs: number;
  /** Until the upstream's answer began. */
  readonly upstreamMs: number;
}

/** A garbage collection. */
export interface Collection {
  readonly fromMs: number;
  readonly ms: number;
}

/** The parts of one wait, which add up to it, in milliseconds. */
export interface Parts {
  /** In the client, until a connection was free. */
  readonly client: number;
  /** Between the client's write and its read, outside of what the gateway times: sockets, and loops that were at other work. */
  readonly outside: number;
  /** In the gateway before and after the upstream, Redis included. */
  readonly gateway: number;
  readonly upstream: number;
}

export interface Row {
  readonly of: string;
  readonly requests: number;
  readonly waitMs: number;
  readonly parts: Parts;
  /** Milliseconds of collections between the client's write and its read, medians. */
  readonly collecting: number;
  /** Share of the requests with a collection of a millisecond or more between write and read. */
  readonly collected: number;
  /** How many disturbances they are of, at least: answers further than 50 ms from each other. */
  readonly moments: number;
}

export interface Request extends Wait, Logged {}

/** The medians over all requests, and over the slowest of a thousand. */
export function rowsOf(requests: readonly Request[], collections: readonly Collection[]): Row[] {
  const slowestFirst = [...requests].sort((a, b) => waitOf(b) - waitOf(a));
  const share = (parts: number) => slowestFirst.slice(0, Math.ceil(requests.length / parts));
  return [
    rowOf('all', requests, collections),
    rowOf('slowest 1 %', share(100), collections),
    rowOf('slowest 0.1 %', share(1000), collections),
  ];
}

function rowOf(of: string, requests: readonly Request[], collections: readonly Collection[]): Row {
  const parts = requests.map(partsOf);
  const medianOf = (part: keyof Parts) => median(parts.map((one) => one[part]));
  const within = requests.map((one) => collectedWithin(one, collections));
  return {
    of,
    requests: requests.length,
    waitMs: median(requests.map(waitOf)),
    parts: {
      client: medianOf('client'),
      outside: medianOf('outside'),
      gateway: medianOf('gateway'),
      upstream: medianOf('upstream'),
    },
    collecting: median(within),
    collected: within.filter((ms) => ms >= 1).length / requests.length,
    moments: momentsOf(requests.map(({ answeredMs }) => answeredMs)),
  };
}

function waitOf({ dueMs, answeredMs }: Wait): number {
  return answeredMs - dueMs;
}

function partsOf({ dueMs, sentMs, answeredMs, durationMs, upstreamMs }: Request): Parts {
  return {
    client: sentMs - dueMs,
    outside: answeredMs - sentMs - durationMs,
    gateway: durationMs - upstreamMs,
    upstream: upstreamMs,
  };
}

/** Collections are in the order of their time. */
function collectedWithin({ sentMs, answeredMs }: Wait, collections: readonly Collection[]): number {
  let low = 0;
  let high = collections.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { fromMs, ms } = collections[middle] as Collection;
    if (fromMs + ms <= sentMs) low = middle + 1;
    else high = middle;
  }
  let sum = 0;
  for (let index = low; index < collections.length; index += 1) {
    const { fromMs, ms } = collections[index] as Collection;
    if (fromMs >= answeredMs) break;
    sum += Math.min(fromMs + ms, answeredMs) - Math.max(fromMs, sentMs);
  }
  return sum;
}

const MOMENT_MS = 50;

function momentsOf(times: readonly number[]): number {
  const ascending = [...times].sort((a, b) => a - b);
  return ascending.filter((time, index) => index === 0 || time - (ascending[index - 1] as number) > MOMENT_MS).length;
}
