// The usage counts of a running gateway. Opens the usage store, counts exchanges that have ended, and returns reports. The store is in
// Redis if one is configured, otherwise in a file of the data directory. A count passes these files:
//
//   tally.ts             adds the request to the counts of its caller, in memory
//   waiting-batches.ts   keeps the counts that are not written yet, in numbered batches
//   writer.ts            decides when to write; rounds.ts sends the batches to the store
//   redis-store.ts       adds each batch once, whatever is sent again; sqlite-store.ts does the same in a file
//   report.ts            reads the sums

import type { Trail } from '../exchange/trail.ts';
import type { ConnectRedis } from '../redis/client.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { createRedisUsageStore } from './redis-store.ts';
import { type UsagePage, type UsageQuestion, usagePage } from './report.ts';
import { createSqliteUsageStore } from './sqlite-store.ts';
import type { UsageStore, UsageStoreOptions } from './store.ts';
import { UsageWriter, type WriterOptions, type WriterStatus } from './writer.ts';

interface OpenUsageStoreOptions extends UsageStoreOptions {
  readonly redisUrl: string | undefined;
  readonly connect?: ConnectRedis | undefined;
  readonly dataDirectory: string;
  /** See `applySteps`. */
  readonly acceptOneWay?: boolean | undefined;
}

interface UsageOptions
  extends Omit<OpenUsageStoreOptions, 'detailsMax'>,
    Pick<WriterOptions, 'onChange' | 'machine' | 'pairsMax' | 'foldedMax'> {}

export interface Usage {
  /** Counts an exchange that has ended. */
  count(ended: Pick<Trail, 'caller' | 'operation' | 'status'>): void;
  /**
   * Returns a page of a report, which includes everything that this process counted before the call. Rejects if the store cannot be read,
   * or does not accept these counts.
   */
  page(question: UsageQuestion): Promise<UsagePage>;
  status(): WriterStatus;
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the store. Rejects with an Error for operators if a file cannot be opened. Connects to Redis for the first write. */
export async function openUsage({ onChange, machine, pairsMax, foldedMax, ...options }: UsageOptions): Promise<Usage> {
  const { now, keepDays } = options;
  const writer = new UsageWriter({
    open: () => openUsageStore(options),
    now,
    onChange,
    machine,
    pairsMax,
    foldedMax,
  });
  if (options.redisUrl === undefined) await writer.store();
  /** Pages are read one after the other, because each may take some megabytes of memory. */
  let reading: Promise<unknown> = Promise.resolve();

  async function read(question: UsageQuestion): Promise<UsagePage> {
    const unwritten = await writer.flush();
    if (unwritten.has(question.organization)) throw new Error('The usage store does not accept new counts.');
    const store = await writer.store();
    return usagePage(question, { store, keepDays: keepDays(), nowMs: now() });
  }

  return {
    count: writer.count,
    page(question) {
      const answer = reading.then(() => read(question));
      reading = answer.catch(() => undefined);
      return answer;
    },
    status: () => writer.status(),
    drain: async () => void (await writer.flush()),
    close: () => writer.close(),
  };
}

/**
 * Opens the store. Rejects with an Error for operators if a file cannot be opened. Waits only for the first attempt to connect to Redis.
 */
export function openUsageStore({ redisUrl, dataDirectory, ...options }: OpenUsageStoreOptions): Awaitable<UsageStore> {
  return redisUrl === undefined
    ? createSqliteUsageStore({ directory: dataDirectory, ...options })
    : createRedisUsageStore({ url: redisUrl, ...options });
}
