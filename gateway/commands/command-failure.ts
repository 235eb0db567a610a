// The error that ends a command early, with an exit code and a sentence to print.

/** Ends a command when it is thrown. The process does not exit at once, because the command has to close its stores first. */
export class CommandFailure extends Error {
  readonly exitCode: 1 | 2;

  /** @param sentence the text to print; empty for none */
  constructor(exitCode: 1 | 2, sentence: string) {
    super(sentence);
    this.exitCode = exitCode;
  }
}
