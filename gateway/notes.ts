// The trail of an exchange as stages see it: notes for log, metrics and traces, which they write and cannot read. State that a part decides
// by belongs to that part. The rows of the log fields name the notes and the types of their values; `trail.ts` has the other side, which
// `observe/` reads.

import type { RareNotes, UsualNotes } from './log-fields.ts';
import type { TimedStage } from './stages.ts';

/** What reading a note gives besides its value: no code can use it. */
declare const unread: unique symbol;
interface Unread {
  readonly [unread]: never;
}

export type TrailNotes = { [Name in keyof UsualNotes]: UsualNotes[Name] | Unread } & {
  /** Notes the time at which a stage has ended. */
  ended(stage: TimedStage): void;
  /** The client has left before the end of its answer: status 499, unless the exchange has been refused. */
  clientLeft(): void;
  /** Notes what few exchanges have; undefined takes it back. */
  note<Name extends keyof RareNotes>(name: Name, value: RareNotes[Name]): void;
};
