// Writes the log of a gateway whose standard output is a terminal, as readable lines instead of JSON.

import type { Log } from '../observe/log/log.ts';
import { createReadable } from '../observe/log/readable.ts';
import type { ByteSink } from '../observe/log/standard-output.ts';
import type { HostProcess, Painter } from './host-process.ts';

type TerminalOptions = Pick<HostProcess, 'outputOnTerminal' | 'environment'> & Painter;

/** Returns the destination of log lines for a terminal; undefined if a program reads standard output, and gets JSON. */
export function terminalLogOf(around: TerminalOptions): { write(text: string): void } | undefined {
  if (!around.outputOnTerminal) return undefined;
  const { NO_COLOR, TERM } = around.environment;
  return { write: createReadable({ write: around.paint, colours: !NO_COLOR && TERM !== 'dumb' }) };
}

/** Returns the same as `terminalLogOf`, for the joined output of several processes. */
export function terminalSinkOf(around: TerminalOptions): ByteSink | undefined {
  const log = terminalLogOf(around);
  if (log === undefined) return undefined;
  const decoder = new TextDecoder();
  return {
    write(bytes, done) {
      log.write(decoder.decode(bytes, { stream: true }));
      done(0);
      return true;
    },
    onDrain: () => undefined,
    end: () => undefined,
  };
}

/** Logs the start of the drain, except to a user who has just pressed Ctrl-C. */
export function tellDrain(around: TerminalOptions, { logger }: Pick<Log, 'logger'>, signal: NodeJS.Signals): void {
  if (!(signal === 'SIGINT' && around.outputOnTerminal)) logger.info('draining');
}
