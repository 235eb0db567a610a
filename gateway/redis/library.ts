// Loads the library of Redis when the first connection is opened: a start without Redis does without its 60 files.

import { createRequire } from 'node:module';
import { STILL_MS } from '../shared/deadline.ts';

const require = createRequire(import.meta.url);

type Library = typeof import('ioredis');

/** Members of the library's commands that its types do not declare; `test/flow/redis` shows that the library has them. */
interface TimedCommand {
  readonly isSettled: boolean;
  reject(cause: Error): void;
  _commandTimeoutTimer?: NodeJS.Timeout;
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
  return loaded;
}

/**
 * In place of the library's, which expires although the reply may be waiting in the socket: that is read before setImmediate runs. After a
 * time in which the process stood still, the command may not have been written yet.
 */
function setReadingTimeout(this: TimedCommand, ms: number): void {
  const dueAt = performance.now() + ms;
  const expire = () => {
    if (!this.isSettled) this.reject(new Error('Command timed out'));
  };
  const readThenExpire = () => void setImmediate(expire);
  this._commandTimeoutTimer ??= setTimeout(() => {
    if (performance.now() - dueAt <= STILL_MS) readThenExpire();
    else this._commandTimeoutTimer = setTimeout(readThenExpire, STILL_MS);
  }, ms);
}
