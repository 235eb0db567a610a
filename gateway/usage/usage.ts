// The use of all organizations while the gateway serves: counts what has ended, and answers questions.

import type { Trail } from '../exchange/trail.ts';
import { type OpenUsageStoreOptions, openUsageStore } from './open-store.ts';
import { type UsagePage, type UsageQuestion, usagePage } from './report.ts';
import { UsageWriter, type WriterOptions, type WriterStatus } from './writer.ts';

interface UsageOptions
  extends Omit<OpenUsageStoreOptions, 'detailsMax'>,
    Pick<WriterOptions, 'onChange' | 'machine' | 'pairsMax' | 'foldedMax'> {}

export interface Usage {
  /** Counts an exchange that has ended. */
  count(ended: Pick<Trail, 'caller' | 'operation' | 'status'>): void;
  /** What was counted here before the call is in the answer. Rejects if the store cannot be read, or does not take these counts. */
  page(question: UsageQuestion): Promise<UsagePage>;
  status(): WriterStatus;
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Rejects with a sentence if the file cannot be opened. Redis is connected to when there is something to write. */
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
  /** Pages are read one after the other: each may take some megabytes. */
  let reading: Promise<unknown> = Promise.resolve();

  async function read(question: UsageQuestion): Promise<UsagePage> {
    const unwritten = await writer.flush();
    if (unwritten.has(question.organization)) throw new Error('The store of use does not take what was counted here.');
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
