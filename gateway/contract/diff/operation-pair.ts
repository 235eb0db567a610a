// One operation in its old and its new form, as the comparisons of its parts take it.

import type { Described } from './described.ts';
import type { DiffPlace, ReportFinding } from './findings.ts';
import type { Comparer } from './schema.ts';

/** The old and the new form of an operation with the same method and path. */
export interface OperationPair {
  readonly old: Described;
  readonly new: Described;
  readonly comparer: Comparer;
  readonly tell: ReportFinding;
  readonly at: DiffPlace;
}
