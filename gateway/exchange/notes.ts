// The write-only view of a trail. Stages write notes for log, metrics and traces, and cannot read these notes. A part that needs state for
// a decision keeps that state itself. The rows of the log fields declare the notes and their types; `trail.ts` is the readable side, for
// `observe/`.

import type { RareNotes, UsualNotes } from '../catalogue/log-fields.ts';
import type { TimedStage } from '../stages.ts';

/** Stages write notes and must not read them. A read returns a union with this type, which no function accepts, so it does not compile. */
declare const unread: unique symbol;
interface Unread {
  readonly [unread]: never;
}

export type TrailNotes = { [Name in keyof UsualNotes]: UsualNotes[Name] | Unread } & {
  /** Notes the time at which a stage has ended. */
  noteEnd(stage: TimedStage): void;
  /** Adds a wait for a place at the upstream, for a connection of its pool, or for its credential. */
  noteQueued(waitedMs: number): void;
  /** Notes that the client has left before the end of its answer. The status becomes 499, unless the exchange has been refused. */
  clientLeft(): void;
  /** Writes a note that few exchanges have; undefined removes it. */
  note<Name extends keyof RareNotes>(name: Name, value: RareNotes[Name]): void;
};
