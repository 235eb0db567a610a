// How a command ends early: with an exit code, and a sentence that is printed.

/** Ends a command. The command does not exit itself, so that what it has opened is closed. */
export class CommandFailure extends Error {
  readonly exitCode: 1 | 2;

  /** @param sentence empty: nothing is printed */
  constructor(exitCode: 1 | 2, sentence: string) {
    super(sentence);
    this.exitCode = exitCode;
  }
}
