// The check of an upstream's answers against the contract. contract/answer.ts implements it, and upstream/relay/contract-check.ts uses it.

import type { Operation, Reaction } from './operation.ts';

export interface AnswerCheck {
  /**
   * Returns what to do with the body: `refuse` buffers it until it is checked, `report` checks a copy, `off` passes it on unchecked.
   * If the contract does not declare the status or the media type, returns a description of the answer instead. A status without declared
   * content allows every media type in which browsers run no scripts.
   *
   * @param isRequested false for a 206 or 304 that does not follow from the request, so that only the contract can allow it
   */
  reactionTo(
    operation: Operation,
    head: CheckedHead,
    contentType?: string,
    isRequested?: boolean,
  ): Reaction | UndeclaredAnswer;
  /** Returns one sentence per violation. A sentence names places, never values. */
  violations(operation: Operation, status: number, body: Buffer, contentType?: string): readonly string[];
  /**
   * With `report`, only some answers are checked. Returns the number of answers since the previous checked one, with the latest included.
   */
  standsFor(operation: Operation): number;
  /** Returns the check of each item of a stream, or undefined if the contract does not describe them. */
  itemCheck(operation: Operation, status: number, contentType?: string): ItemCheck | undefined;
}

export interface CheckedHead {
  readonly status: number;
  readonly hasBody: boolean;
  /** Whether the body is not checked, because the client does not get it. */
  readonly dropsBody: boolean;
}

/** An answer that its contract does not declare. */
export interface UndeclaredAnswer {
  readonly what: 'status' | 'media type';
  /** `report` and `off` let it pass. */
  readonly reaction: Reaction;
  /** A text about the declaration, the answer, and the line to add to the contract. It contains nothing from the body. */
  readonly text: string;
  /** Whether browsers run scripts in the answer. */
  readonly isActive: boolean;
}

/** Checks one item of a stream against the contract. Returns one sentence per violation. */
export type ItemCheck = (item: unknown) => readonly string[];
