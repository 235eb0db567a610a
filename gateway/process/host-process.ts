// What commands and the gateway use of their process: output, signals, environment, end. main.ts has the real ones, tests have others.

import type { Readable } from 'node:stream';

export interface HostProcess {
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name of the user for the audit log. */
  readonly actor: string;
  /** Whether standard error is a terminal, where a line can be rewritten. */
  readonly onTerminal: boolean;
  /** Whether standard output is a terminal: a person reads it. */
  readonly outputOnTerminal: boolean;
  now(): number;
  /** Writes to standard output, as is. */
  write(text: string): void;
  /** Writes to standard error, as is. */
  complain(text: string): void;
  /** Standard input. */
  input(): Readable;
  exit(code: number): never;
  /** Ends at once, without writing buffered output. */
  abort(): void;
  /** Handles SIGTERM and SIGINT: end. */
  onSignal(handle: (name: NodeJS.Signals) => void): void;
  /** Handles SIGHUP: reload the configuration. */
  onReload(handle: () => void): void;
  /** Handles SIGUSR2: replace every worker. */
  onRestart(handle: () => void): void;
  /** Handles uncaught exceptions and unhandled rejections. Without a handler Node prints the error and exits with 1. */
  onCrash(handle: (error: unknown) => void): void;
}

export interface Painter {
  /** Writes coloured text to standard output, in which all else is visible already. */
  paint(text: string): void;
}
