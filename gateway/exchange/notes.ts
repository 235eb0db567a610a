// The write-only view of a trail. Stages write notes for log, metrics and traces, and cannot read these notes. A part that needs state for
// a decision keeps that state itself. The rows of the log fields declare the notes and their types; `trail.ts` is the readable side, for
// `observe/`.

import type { RareNotes, UsualNotes } from '../catalogue/log-fields.ts';
import type { TimedStage } from '../stages.ts';

/**
 * The type of every note that is read is a union with `Unread`. No function accepts this type, so code that reads a note does not compile.
 */
declare const unread: unique symbol;
interface Unread {
  readonly [unread]: never;
}

export type TrailNotes = { [Name in keyof UsualNotes]: UsualNotes[Name] | Unread } & {
  /** Notes the time at which a stage has ended. */
  noteEnd(stage: TimedStage): void;
  /** Notes that the client has left before the end of its answer. The status becomes 499, unless the exchange has been refused. */
  clientLeft(): void;
  /** Writes a note that few exchanges have; undefined removes it. */
  note<Name extends keyof RareNotes>(name: Name, value: RareNotes[Name]): void;
};
