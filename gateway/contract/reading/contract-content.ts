// The type of a contract that was read: the document as one tree, and the findings of the linter.

import type { Mistake } from '../../shared/mistakes.ts';
import type { JsonObject } from '../pointer.ts';

/** The content of a contract file. References between files are resolved; those within it are kept, so schemas may be circular. */
export interface ContractContent {
  readonly root: JsonObject;
  /** The contract's own file and the files that it refers to. */
  readonly files: readonly string[];
  /** Places where the gateway checks less exactly than the contract requires, or refuses more. */
  readonly warnings: readonly Mistake[];
  /** Whether some schema has a name by which references can address it. */
  readonly hasNames: boolean;
  /** Whether it was written as Swagger 2.0: mistakes are shown at their places there. */
  readonly isSwagger: boolean;
  /** Whether the linter has found mistakes: its operations are read to find more, and its schemas are not compiled. */
  readonly isBroken: boolean;
}
