// Contains errors that the Redis library throws while it reads a reply, so that each error closes only its connection. Otherwise the
// library throws such an error outside every promise, and the error ends the process. One unexpected reply to SUBSCRIBE was enough to do
// this.

import type { Redis } from 'ioredis';
import { contain } from '../shared/faults.ts';
import { dropGarbled } from './garbled.ts';
import { canConnectTo } from './sentinels.ts';
import { SLOTS } from './slot.ts';

type Library = typeof import('ioredis');

interface PendingCommand {
  reject(cause: Error): void;
}

/** The library's reader of the replies of one connection. */
interface ReplyReader {
  readonly redis: Redis & { readonly commandQueue: { peekFront(): { readonly command: PendingCommand } | undefined } };
  dispatch(take: () => void): void;
  returnFatalError(cause: Error): void;
}

type Callback = (...results: unknown[]) => void;

/** Parts of the library that its types do not declare. `test/flow/redis/a-wrong-reply-ends-no-process` fails if they are missing. */
export interface LibraryInternals {
  readonly library: Library;
  readonly replies: { readonly prototype: ReplyReader };
  readonly callbacks: { default(promise: Promise<unknown>, callback?: Callback, options?: object): Promise<unknown> };
}

/** Replaces the functions of the library whose errors would end the process. Call it once. */
export function containLibrary({ library, replies, callbacks }: LibraryInternals): void {
  replies.prototype.dispatch = dispatchContained;
  replies.prototype.returnFatalError = dropUnreadable;
  const settle = callbacks.default;
  // The library uses this function for its own commands INFO and CLUSTER SLOTS.
  callbacks.default = (promise, callback, options) =>
    settle(promise, callback && ((...results) => contain(() => callback(...results))), options);
  rejectQuietly(library.Command.prototype as unknown as PromisedCommand);
  checkSlots(library.Cluster.prototype as unknown as SlotReader);
}

/**
 * Rejects the command whose reply does not fit. The library has already removed the command from its queue, so the command would wait
 * forever.
 */
function dispatchContained(this: ReplyReader, take: () => void): void {
  const command = this.redis.commandQueue.peekFront()?.command;
  try {
    take();
  } catch (cause) {
    dropGarbled(this.redis, `a reply of the wrong form (${(cause as Error).message})`);
    command?.reject(cause as Error);
  }
}

/** Destroys the connection. The library would close it in an orderly way, and read more replies until then. */
function dropUnreadable(this: ReplyReader, cause: Error): void {
  dropGarbled(this.redis, `bytes that are not a reply (${cause.message})`);
}

interface PromisedCommand {
  promise: Promise<unknown>;
  initPromise(): void;
}

/** Rejects a command without an unhandled rejection, because the library ignores the promises of the commands that it sends itself. */
function rejectQuietly(command: PromisedCommand): void {
  const { initPromise } = command;
  command.initPromise = function initContained() {
    initPromise.call(this);
    this.promise.catch(() => undefined);
  };
}

type SlotsCallback = (error?: Error | null, slots?: unknown) => void;

interface Duplicate {
  cluster(command: 'SLOTS', callback: SlotsCallback): unknown;
}

interface SlotSource {
  duplicate(options: object): Duplicate;
}

interface SlotReader {
  getInfoFromNode(source: SlotSource | null, callback: SlotsCallback): void;
}

/** Checks the map of slots before the library reads it. After a map that it cannot read, the library would never ask for another map. */
function checkSlots(cluster: SlotReader): void {
  const { getInfoFromNode } = cluster;
  cluster.getInfoFromNode = function getChecked(source, callback) {
    const checked = source && {
      duplicate(options: object) {
        const duplicate = source.duplicate(options);
        const ask = duplicate.cluster.bind(duplicate);
        duplicate.cluster = (command, take) =>
          ask(command, (error, slots) => {
            if (error || isSlots(slots)) take(error, slots);
            else take(new Error('the reply to CLUSTER SLOTS is not a map of slots'));
          });
        return duplicate;
      },
    };
    getInfoFromNode.call(this, checked, callback);
  };
}

/**
 * Each entry contains the first slot, the last slot, and servers with host and port. A server that does not know its host name sends an
 * empty name.
 */
function isSlots(slots: unknown): boolean {
  const isSlot = (slot: unknown) => Number.isInteger(slot) && (slot as number) >= 0 && (slot as number) < SLOTS;
  return (
    Array.isArray(slots) &&
    slots.every((range) => {
      if (!Array.isArray(range)) return false;
      const [first, last, ...servers] = range as unknown[];
      const areServers = servers.every((one) => Array.isArray(one) && (!one[0] || canConnectTo(one[0], one[1])));
      return isSlot(first) && isSlot(last) && areServers;
    })
  );
}
