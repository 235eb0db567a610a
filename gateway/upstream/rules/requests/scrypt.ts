// Hashes secrets in requests, because some upstreams store a secret in the form in which they receive it.

import { randomBytes, scrypt } from 'node:crypto';
import { isHashed } from './hash-forms.ts';
import { createTurns } from './turns.ts';

const COST_LOG2 = 15;
const BLOCK_SIZE = 8;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** scrypt needs 128 bytes × block size × cost (RFC 7914 section 2): 32 MiB, plus a margin. */
const MEMORY_BYTES_MAX = 48 * 1_048_576;
/** Maximum number of hashes at once in a process. Each takes 32 MiB and one of the four libuv threads, which also serve files and DNS. */
const HASHES_AT_ONCE_MAX = 2;

/** `$app$<label>$<secret>`: the secret of one application, with a label that stays readable. */
const LABELLED_PASSWORD = /^(\$app\$[^$]*\$)(.*)$/s;

/**
 * Returns a secret in a form that may be stored, as a PHC string of scrypt. An empty secret and a secret that is hashed already stay
 * unchanged, and a label stays in front of the hash.
 *
 * @param over when it is aborted, no new hash starts and the call rejects
 */
export async function hashedSecret(secret: string, over?: AbortSignal): Promise<string> {
  const [, label = '', inner = secret] = LABELLED_PASSWORD.exec(secret) ?? [];
  if (inner === '' || isHashed(inner)) return secret;
  return label + (await phcHashOf(inner, over));
}

const turns = createTurns(HASHES_AT_ONCE_MAX);

/** Returns `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`, in base64 without padding. */
async function phcHashOf(secret: string, over: AbortSignal | undefined): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const turn = turns.turnOf('hash');
  await turn.enter(over);
  try {
    const hash = await derive(secret, salt);
    return `$scrypt$ln=${COST_LOG2},r=${BLOCK_SIZE},p=1$${toUnpaddedBase64(salt)}$${toUnpaddedBase64(hash)}`;
  } finally {
    turn.leave();
  }
}

function derive(secret: string, salt: Buffer): Promise<Buffer> {
  const options = { N: 2 ** COST_LOG2, r: BLOCK_SIZE, p: 1, maxmem: MEMORY_BYTES_MAX };
  return new Promise((resolve, reject) => {
    scrypt(secret, salt, HASH_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

function toUnpaddedBase64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
