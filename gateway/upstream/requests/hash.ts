// Hashing secrets before they leave, for upstreams that store what they are sent.

import { randomBytes, scrypt } from 'node:crypto';
import { isHashed } from './hashed.ts';

const COST_LOG2 = 15;
const BLOCK_SIZE = 8;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** scrypt takes 128 bytes × block size × cost (RFC 7914 section 2): 32 MiB, and a little for its own keeping. */
const MEMORY_BYTES_MAX = 48 * 1_048_576;
/** Of the whole process: each takes 32 MiB, and one of the four threads that files and names are also read with. */
const HASHES_AT_ONCE_MAX = 2;

/** `$app$<label>$<secret>`: a secret for one application, under a label. */
const labelled = /^(\$app\$[^$]*\$)(.*)$/s;

/**
 * A secret as it may be stored: hashed and hash-like ones as they are, those under a label with the label in front, all others as a
 * PHC string of scrypt. An empty one stays empty: it is no secret.
 *
 * @param over once this is aborted, no hash is begun and none waited for; rejects then
 */
export async function hashedSecret(secret: string, over?: AbortSignal): Promise<string> {
  const [, label = '', inner = secret] = labelled.exec(secret) ?? [];
  if (inner === '' || isHashed(inner)) return secret;
  return label + (await hashed(inner, over));
}

/** `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`, base64 without padding. */
async function hashed(secret: string, over: AbortSignal | undefined): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const leave = await enter(over);
  try {
    const hash = await derive(secret, salt);
    return `$scrypt$ln=${COST_LOG2},r=${BLOCK_SIZE},p=1$${unpadded(salt)}$${unpadded(hash)}`;
  } finally {
    leave();
  }
}

function derive(secret: string, salt: Buffer): Promise<Buffer> {
  const options = { N: 2 ** COST_LOG2, r: BLOCK_SIZE, p: 1, maxmem: MEMORY_BYTES_MAX };
  return new Promise((resolve, reject) => {
    scrypt(secret, salt, HASH_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

let running = 0;
const waiting: (() => void)[] = [];

/** Resolves when there is room for one more hash, with what gives the room back. Rejects once `over` is aborted. */
async function enter(over: AbortSignal | undefined): Promise<() => void> {
  over?.throwIfAborted();
  if (running < HASHES_AT_ONCE_MAX) running++;
  else await turn(over);
  return () => {
    const next = waiting.shift();
    // The place goes from hand to hand, so that nobody who comes in between can take it.
    if (next) next();
    else running--;
  };
}

function turn(over: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const enterNow = () => {
      over?.removeEventListener('abort', giveUp);
      resolve();
    };
    const giveUp = () => {
      waiting.splice(waiting.indexOf(enterNow), 1);
      reject(over?.reason);
    };
    over?.addEventListener('abort', giveUp, { once: true });
    waiting.push(enterNow);
  });
}
