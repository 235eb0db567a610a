// One comparison of two schemas in progress, as the comparison of a keyword uses it: it reports findings and descends.

import type { Located } from '../pointer.ts';
import type { At, Side, Tell } from './findings.ts';

export interface Walk {
  readonly side: Side;
  readonly tell: Tell;
  schemas(old: Located, fresh: Located, at: At): void;
  /** Returns whether `fresh` can replace `old` without a breaking change. */
  fits(old: Located, fresh: Located): boolean;
}
