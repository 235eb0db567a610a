// Loads the library of Redis when the first connection is opened: a start without Redis does without its 60 files.

import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { afterReading, startDeadline } from '../shared/deadline.ts';

const require = createRequire(import.meta.url);

type Library = typeof import('ioredis');

/** Members of the library's commands and connections that its types do not declare; `test/flow/redis` shows that the library has them. */
interface TimedCommand {
  readonly isSettled: boolean;
  reject(cause: Error): void;
  _commandTimeoutTimer?: NodeJS.Timeout;
}

interface TimedConnection {
  readonly stream: Socket;
  readonly options: { readonly socketTimeout: number };
  readonly commandQueue: { readonly length: number };
  /** Undefined: no reply is awaited. */
  socketTimeoutTimer?: unknown;
  setSocketTimeout(): void;
}

let library: Library | undefined;

/** The library; loaded once. */
export function redisLibrary(): Library {
  library ??= load();
  return library;
}

function load(): Library {
  const loaded = require('ioredis') as Library;
  loaded.Command.prototype.setTimeout = setReadingTimeout as (ms: number) => void;
  (loaded.Redis.prototype as unknown as TimedConnection).setSocketTimeout = setReadingSocketTimeout;
  return loaded;
}

/**
 * In place of the library's, which expires although the reply may be waiting in the socket, or the command may not have been written yet.
 */
function setReadingTimeout(this: TimedCommand, ms: number): void {
  const dueAt = performance.now() + ms;
  const expire = () => {
    if (!this.isSettled) this.reject(new Error('Command timed out'));
  };
  this._commandTimeoutTimer ??= setTimeout(() => afterReading(dueAt, expire), ms);
}

/** The same for the time without any reply on a connection. */
function setReadingSocketTimeout(this: TimedConnection): void {
  const { stream, options } = this;
  const deadline = startDeadline(options.socketTimeout, () => {
    this.socketTimeoutTimer = undefined;
    stream.destroy(new Error(`Socket timeout. Expecting data, but didn't receive any in ${options.socketTimeout}ms.`));
  });
  this.socketTimeoutTimer = deadline;
  stream.once('close', deadline.stop);
  // Behind the reader of replies, which takes the commands that have theirs from the queue.
  stream.once('data', () => {
    deadline.stop();
    stream.off('close', deadline.stop);
    this.socketTimeoutTimer = undefined;
    if (this.commandQueue.length > 0) this.setSocketTimeout();
  });
}
