// Searches for the causes of this gateway, sample after sample: gathers what the search reads, and remembers what the last search has
// found.

import { type ErrorCode, REFUSALS } from '../../catalogue/errors.ts';
import type { FleetSources } from '../../shared/questions/fleet.ts';
import type { History } from '../history/history.ts';
import { historyReport } from '../history/history-report.ts';
import { presentCounts } from '../history/present-counts.ts';
import { rangeCounts } from '../history/range-counts.ts';
import type { FoundCause, StatusForCauses } from './cause.ts';
import { createCauseMemory } from './cause-memory.ts';
import { causesOf, type LastMinute } from './causes.ts';
import { namesOfBroken } from './contract-causes.ts';
import { type Extents, extentsIn } from './extent.ts';
import { failureCodesOf } from './failure-codes.ts';
import { withOrganizations } from './hurt-organizations.ts';
import type { PresentTraffic } from './present.ts';
import { createSlowMemory, slowIn } from './slow-causes.ts';
import { namesOfFailing } from './traffic-causes.ts';

interface CauseSearchOptions extends Pick<FleetSources, 'recent'> {
  /** Upper bounds of the duration buckets, in seconds. */
  readonly bounds: readonly number[];
  /** Epoch milliseconds that never decrease. */
  now(): number;
}

/** What the latest samples say beside the counts. */
type Sampled = Pick<PresentTraffic, 'nearLimits' | 'upstreamOf'>;

export class CauseSearch {
  readonly #options: CauseSearchOptions;
  readonly #history: History;
  readonly #memory = createCauseMemory();
  readonly #slow = createSlowMemory();

  constructor(options: CauseSearchOptions, history: History) {
    this.#options = options;
    this.#history = history;
  }

  /** @param status null if no process reports its state */
  async search(status: StatusForCauses | null, sampled: Sampled): Promise<FoundCause[]> {
    const { now } = this.#options;
    const causes = causesOf(status, this.#lastMinute(), now(), await this.#present(sampled), this.#memory);
    this.#memory.note(causes, now());
    return withOrganizations(causes, this.#options.recent, now());
  }

  /** Returns the latest counts, from which the figures of causes of several instances are made. */
  extents(): Extents {
    const operations = presentCounts(this.#history, 'operations');
    const organizations = presentCounts(this.#history, 'organizations');
    return extentsIn({ bounds: this.#options.bounds, operations, organizations }, this.#lastMinute());
  }

  async #present(sampled: Sampled): Promise<PresentTraffic> {
    const { bounds, now, recent } = this.#options;
    const counted = {
      ...sampled,
      bounds,
      operations: presentCounts(this.#history, 'operations'),
      organizations: presentCounts(this.#history, 'organizations'),
      upstreams: presentCounts(this.#history, 'upstreams'),
      usualMs: this.#slow.usualMs,
    };
    this.#slow.note(slowIn(counted), now());
    // If the lines cannot be read, causes name no codes.
    const read = failureCodesOf(namesOfFailing(counted), namesOfBroken(counted), recent, now());
    return { ...counted, failureCodes: await read.catch(() => new Map()) };
  }

  #lastMinute(): LastMinute {
    const { all, codes } = historyReport(this.#options.bounds, [rangeCounts(this.#history, { range: '15m' })]);
    const [mostOften] = codes
      .filter(({ code, minute }) => minute > 0 && isServerError(code))
      .sort((one, other) => other.minute - one.minute);
    const { requests, server_errors: serverErrors, failed } = all.minute;
    return { requests, failed, refused: serverErrors - failed, mostOften: mostOften?.code };
  }
}

function isServerError(code: string): boolean {
  return Object.hasOwn(REFUSALS, code) && REFUSALS[code as ErrorCode].status >= 500;
}
