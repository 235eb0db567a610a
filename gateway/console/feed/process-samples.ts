// Takes the samples of all processes of this gateway: adds their increases to the history, and keeps what the latest ones say of operations
// and of organizations near their limits.

import type { History } from '../history/history.ts';
import { createDifference, type OrganizationNearLimit, type Sample } from '../history/sample.ts';
import { mergeNearLimit, NOTED_MS } from './near-limit.ts';

interface Source {
  readonly differenceOf: ReturnType<typeof createDifference>;
  /** The moment of the process's last sample, at which the increase in its next sample began. */
  sinceMs: number;
}

export class ProcessSamples {
  /** The organizations near their limits, in the samples taken last. */
  nearLimits: readonly OrganizationNearLimit[];
  readonly #read: () => Promise<ReadonlyMap<object, Sample | undefined>>;
  readonly #history: Pick<History, 'advance' | 'add'>;
  readonly #kept: readonly OrganizationNearLimit[];
  readonly #now: () => number;
  readonly #sources = new WeakMap<object, Source>();
  /** When the counts were read last, or when this began: from then on, a process that is new has counted. */
  #sinceMs: number;
  /** The upstream of each operation. */
  readonly #upstreams = new Map<string, string>();

  /**
   * @param read returns the counts of each process; undefined if it did not answer
   * @param kept organizations near their limits in the process before. The present processes know only their own
   * @param now epoch milliseconds that never decrease
   */
  constructor(
    read: () => Promise<ReadonlyMap<object, Sample | undefined>>,
    history: Pick<History, 'advance' | 'add'>,
    kept: readonly OrganizationNearLimit[],
    now: () => number,
  ) {
    this.#read = read;
    this.#history = history;
    this.#kept = kept;
    this.#now = now;
    this.#sinceMs = now();
    this.nearLimits = this.#recentlyKept();
  }

  /** Returns the upstream of an operation; undefined if it is unknown. */
  readonly upstreamOf = (operation: string): string | undefined => this.#upstreams.get(operation);

  /** Returns the known operations of an upstream. */
  readonly operationsOf = (upstream: string): string[] =>
    [...this.#upstreams].flatMap(([operation, one]) => (one === upstream ? [operation] : []));

  async take(): Promise<void> {
    const taken = await this.count();
    this.nearLimits = mergeNearLimit([...taken.map(({ nearLimits }) => nearLimits), this.#recentlyKept()]);
    for (const { name, upstream } of taken.flatMap(({ operations }) => operations))
      if (upstream !== undefined) this.#upstreams.set(name, upstream);
  }

  /** Takes the counts alone. Returns the samples of the processes that answered. */
  async count(): Promise<Sample[]> {
    const all = await this.#read();
    const taken = [...all].flatMap(([of, one]) => (one === undefined ? [] : [[of, one] as const]));
    const sinceMs = this.#history.advance();
    for (const [of, one] of taken) {
      const source = this.#sources.get(of) ?? { differenceOf: createDifference(), sinceMs: this.#sinceMs };
      this.#sources.set(of, source);
      this.#history.add(source.sinceMs, source.differenceOf(one));
      source.sinceMs = sinceMs;
    }
    this.#sinceMs = sinceMs;
    return taken.map(([, one]) => one);
  }

  #recentlyKept(): readonly OrganizationNearLimit[] {
    return this.#kept.filter(({ last_at: at }) => this.#now() - Date.parse(at) < NOTED_MS);
  }
}
