// The type of a contract that was read, which consists of the document as one tree, and the findings of the linter.

import type { Mistake } from '../../shared/mistakes.ts';
import type { JsonObject } from '../pointer.ts';

/**
 * The content of a contract file. References between files are resolved. References within the document are kept, so schemas may be
 * circular.
 */
export interface ContractContent {
  readonly root: JsonObject;
  /** The contract's own file and the files that it refers to. */
  readonly files: readonly string[];
  /**
   * The components that are in other files, such as `components/schemas/Job`, each with the index of its file in `files`; -1 if its file
   * has another place or name for it. Absent if all are in the contract's own file.
   */
  readonly foreign?: Readonly<Record<string, number>> | undefined;
  /** Places where the gateway checks less exactly than the contract requires, or refuses more. */
  readonly warnings: readonly Mistake[];
  /** Whether a schema has a name by which references can address it. */
  readonly hasNames: boolean;
  /** Whether the contract was written as Swagger 2.0, so that mistakes are shown at their places in that document. */
  readonly isSwagger: boolean;
  /** Whether the linter has found mistakes, so that operations are read only to find more mistakes, and schemas are not compiled. */
  readonly isBroken: boolean;
}
