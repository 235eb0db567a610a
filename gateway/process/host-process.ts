// The interface of the process for commands and the gateway, with output, signals, environment and exit. main.ts implements it; tests have
// other implementations.

import type { Readable } from 'node:stream';

export interface HostProcess {
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name of the user for the audit log. */
  readonly actor: string;
  /** Whether standard error is a terminal, where a line can be rewritten. */
  readonly onTerminal: boolean;
  /** Whether standard output is a terminal, so that a person reads it. */
  readonly outputOnTerminal: boolean;
  now(): number;
  /** Writes to standard output, as is. */
  write(text: string): void;
  /** Writes to standard error, as is. */
  complain(text: string): void;
  /** Returns standard input. */
  input(): Readable;
  exit(code: number): never;
  /** Ends the process at once, without writing buffered output. */
  abort(): void;
  /** Sets the handler of SIGTERM and SIGINT, which ask the process to end. */
  onSignal(handle: (name: NodeJS.Signals) => void): void;
  /** Sets the handler of SIGHUP, which asks for a reload of the configuration. */
  onReload(handle: () => void): void;
  /** Sets the handler of SIGUSR2, which asks for new workers. */
  onRestart(handle: () => void): void;
  /** Sets the handler of uncaught exceptions and unhandled rejections. Without a handler Node prints the error and exits with 1. */
  onCrash(handle: (error: unknown) => void): void;
}

export interface Painter {
  /** Writes text with the gateway's own colour codes to standard output. `write` makes such control characters visible instead. */
  paint(text: string): void;
}
