// One connection of the Redis key store. Every call has a deadline, and every error is a sentence for operators.

import { type ConnectRedis, connectRedis, isReadOnly, type Redis } from '../../../redis/client.ts';
import { GarbledReply } from '../../../redis/garbled.ts';
import { evaluate, type Script } from '../../../redis/sealed-script.ts';
import { requireVersion } from '../../../redis/server-info.ts';
import { type Machine, REAL_MACHINE } from '../../../shared/machine.ts';
import { META, REFUSED, SCHEMA_VERSION } from './key-store-script.ts';

/** How long to wait for a Redis that is starting. */
const OPENING_MAX_MS = 5000;
/**
 * The time between the deadline of a call and the moment when a silent connection is given up. The call fails first, because its error
 * message says more.
 */
const SILENCE_AFTER_DEADLINE_MS = 500;
/** How long a call waits for the client of a replica to reconnect. */
const RECONNECTING_MAX_MS = 500;
/** Message of the library, which sets no error code. */
const TIMED_OUT = 'Command timed out';

interface ConnectionOptions {
  readonly url: string;
  readonly pepperFingerprint: string;
  now(): number;
  /** The longest a call takes. */
  readonly deadlineMs: number;
  readonly connect?: ConnectRedis | undefined;
  readonly machine?: Machine | undefined;
}

/** Runs a script with its own arguments. Rejects with an Error for operators, and at once while Redis is not connected. */
export type RunScript = (script: Script, args?: readonly (string | number)[]) => Promise<unknown>;

interface StoreConnection {
  readonly run: RunScript;
  close(): void;
}

/** A store has two connections. */
export interface StoreConnections {
  /** Runs scripts for requests, with a short deadline, because a request waits for the reply. */
  readonly serving: RunScript;
  /**
   * Runs scripts for commands, with a long deadline, because their work may be large. It does not delay the calls on the other connection.
   */
  readonly patient: RunScript;
}

/**
 * Rejects with an Error for operators if Redis cannot be reached within five seconds or is too old. Afterwards the connection reconnects by
 * itself.
 */
export async function openConnection({
  url,
  pepperFingerprint,
  now,
  deadlineMs,
  connect = connectRedis,
  machine: { setTimeout, clearTimeout, sleep } = REAL_MACHINE,
}: ConnectionOptions): Promise<StoreConnection> {
  const ready = Promise.withResolvers<void>();
  let lost: Error | undefined;
  /** Resolves when the client is connected again to a server that answers reads; undefined at other times. */
  let reconnecting: PromiseWithResolvers<void> | undefined;
  const endReconnecting = () => {
    reconnecting?.resolve();
    reconnecting = undefined;
  };
  const client = connect({
    url,
    commandTimeoutMs: deadlineMs,
    silenceMaxMs: deadlineMs + SILENCE_AFTER_DEADLINE_MS,
    onReady() {
      lost = undefined;
      ready.resolve();
      endReconnecting();
    },
    onLost(cause) {
      lost = cause;
      if (isReadOnly(cause)) reconnecting ??= Promise.withResolvers();
      else endReconnecting();
    },
  });
  const absence = (otherwise: string) => {
    const what =
      lost !== undefined && isReadOnly(lost) ? 'Redis answers, but takes no writes' : 'Redis cannot be reached';
    return `${what}: ${lost?.message.replace(/\.$/, '') ?? otherwise}.`;
  };

  const timer = setTimeout(
    () => ready.reject(new Error(absence('it is loading its data, or does not answer'))),
    OPENING_MAX_MS,
  );
  try {
    await ready.promise;
    await requireVersion(client);
  } catch (cause) {
    client.disconnect();
    throw cause;
  } finally {
    clearTimeout(timer);
  }

  return {
    async run(script, args = []) {
      // The client of a replica reconnects within milliseconds, and the replica answers look-ups of keys.
      if (reconnecting !== undefined)
        await Promise.race([reconnecting.promise, sleep(RECONNECTING_MAX_MS, { ref: false })]);
      try {
        return await evaluate(client, script, [META], [pepperFingerprint, now(), ...args]);
      } catch (cause) {
        // The library's error contains the arguments, which may be secret, so only its message is passed on.
        const { name, message } = cause as Error;
        if (name === 'ReplyError') throw new Error(reasonOf(message));
        if (cause instanceof GarbledReply) throw cause;
        throw new Error(
          message === TIMED_OUT ? `Redis did not answer within ${deadlineMs} ms.` : absence('it is away'),
        );
      }
    },
    close: () => client.disconnect(),
  };
}

/**
 * Checks the server and the data in it as opening a store does, and writes nothing. Rejects with an Error for operators.
 *
 * @param pepperFingerprint undefined if the pepper is in Redis as well, so the data was written with it
 */
export async function checkRedisStore(client: Redis, pepperFingerprint: string | undefined): Promise<void> {
  await requireVersion(client);
  const [schema, pepper] = await client.hmget(META, 'schema', 'pepper_fingerprint');
  if (Number(schema) > SCHEMA_VERSION) throw new Error(reasonOf(`${REFUSED.newer} ${schema}`));
  const isAnother = schema && pepperFingerprint !== undefined && pepper !== pepperFingerprint;
  if (isAnother) throw new Error(reasonOf(REFUSED.pepper));
  // The client of a Cluster finds the masters itself.
  const replication = 'nodes' in client ? '' : await client.info('replication').catch(() => '');
  if (/^role:slave/m.test(replication)) throw new Error('it is a replica, which takes no writes');
}

function reasonOf(message: string): string {
  const [code, detail] = message.split(' ');
  if (code === REFUSED.newer) {
    return `it has schema version ${detail} and this gateway knows versions up to ${SCHEMA_VERSION}; run the newer gateway that wrote it.`;
  }
  if (code === REFUSED.pepper) {
    return 'it was made with another key_pepper, so none of its keys could be recognised. Restore the key_pepper it was made with, or use another Redis.';
  }
  if (code === REFUSED.damaged) {
    const missing = message.slice(REFUSED.damaged.length + 1);
    return `its index is damaged (${missing}): Redis has probably evicted a part of it. Set maxmemory-policy noeviction, then mend it with "gateway keys import" and the latest export.`;
  }
  return `Redis refused: ${message}`;
}
