// Loads the Redis library for the first connection, and replaces its timeouts. A gateway without Redis does not load the library's 60
// files.

import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { afterReading, type Deadline, startDeadline } from '../shared/deadline.ts';
import { containLibrary, type LibraryInternals } from './contain.ts';

const require = createRequire(import.meta.url);

type Library = typeof import('ioredis');

/** Members of the library's commands and connections that its types do not declare. The tests in `test/flow/redis` use them. */
interface TimedCommand {
  readonly isSettled: boolean;
  reject(cause: Error): void;
  _commandTimeoutTimer?: NodeJS.Timeout;
}

interface TimedConnection {
  readonly stream: Socket;
  readonly options: { readonly socketTimeout: number };
  readonly commandQueue: { readonly length: number };
  /** Set while a reply is awaited. The library makes it undefined when the connection closes. */
  socketTimeoutTimer?: true | undefined;
  setSocketTimeout(): void;
}

let library: Library | undefined;

/** Returns the library. The first call loads it. */
export function redisLibrary(): Library {
  library ??= load();
  return library;
}

function load(): Library {
  const loaded = require('ioredis') as Library;
  const ofLibrary = createRequire(require.resolve('ioredis'));
  containLibrary({
    library: loaded,
    replies: (ofLibrary('./DataHandler.js') as { default: LibraryInternals['replies'] }).default,
    callbacks: ofLibrary('standard-as-callback') as LibraryInternals['callbacks'],
  });
  loaded.Command.prototype.setTimeout = setReadingTimeout as (ms: number) => void;
  (loaded.Redis.prototype as unknown as TimedConnection).setSocketTimeout = setReadingSocketTimeout;
  return loaded;
}

/**
 * Replaces the library's timeout of a command, which expires even if the reply is waiting in the socket, or the command is not written yet.
 */
function setReadingTimeout(this: TimedCommand, ms: number): void {
  const dueAt = performance.now() + ms;
  const expire = () => {
    if (!this.isSettled) this.reject(new Error('Command timed out'));
  };
  this._commandTimeoutTimer ??= setTimeout(() => afterReading(dueAt, expire), ms);
}

const silences = new WeakMap<Socket, Deadline>();

/** Replaces the library's timeout of a connection without replies. The library calls it for a command that does not wait behind others. */
function setReadingSocketTimeout(this: TimedConnection): void {
  const silence = silences.get(this.stream);
  if (silence === undefined) silences.set(this.stream, watchSilence(this));
  else silence.restart();
  this.socketTimeoutTimer = true;
}

/** One deadline for all replies of a connection. It expires without effect if no reply is awaited. */
function watchSilence(connection: TimedConnection): Deadline {
  const { stream, options } = connection;
  const silence = startDeadline(options.socketTimeout, () => {
    if (connection.commandQueue.length === 0) return;
    stream.destroy(new Error(`Socket timeout. Expecting data, but didn't receive any in ${options.socketTimeout}ms.`));
  });
  // Runs after the reader of replies, which removes answered commands from the queue.
  stream.on('data', () => {
    if (connection.commandQueue.length > 0) silence.restart();
    else connection.socketTimeoutTimer = undefined;
  });
  stream.once('close', silence.stop);
  return silence;
}
