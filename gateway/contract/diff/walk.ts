// One comparison of two schemas in progress, as the comparison of a keyword uses it: it reports findings and descends.

import type { Located } from '../pointer.ts';
import type { DiffPlace, ReportFinding, Side } from './findings.ts';

export interface Walk {
  readonly side: Side;
  readonly tell: ReportFinding;
  schemas(old: Located, fresh: Located, at: DiffPlace): void;
  /** Returns whether `fresh` can replace `old` without a breaking change. */
  fits(old: Located, fresh: Located): boolean;
}
