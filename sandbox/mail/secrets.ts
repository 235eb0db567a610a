// The kinds of stored secrets, and whether a password matches one. The prefix of the text alone decides, so a plain password that happens
// to begin with `$`, `_` or `{` locks the account.
import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

export type SecretKind = 'password' | 'app' | 'totp';
export type SecretOutcome = 'right' | 'wrong' | 'unknownFormat' | 'codeRequired';

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

// As the PHC string format spells it: `$scrypt$ln=<log2 N>,r=<r>,p=<p>$<salt>$<hash>`, base64 without padding.
const SCRYPT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const APP = /^\$app\$[^$]*\$/;
const CODE = /^(.*)\$(\d{6})$/s;
const SCRYPT_BYTES_MAX = 256 * 1024 * 1024;
const STEP_SECONDS = 30;
/** Passwords that were right, under a hash with a key of this process: a client sends its password with each request. */
const rightOnes = new Set<string>();
const RIGHT_ONES_MAX = 1000;
const processKey = randomBytes(32);

export function kindOf(secret: string): SecretKind {
  if (secret.startsWith('otpauth://')) return 'totp';
  return secret.startsWith('$app$') ? 'app' : 'password';
}

/** At most one password is kept; further ones are silently left out. */
export function withoutFurtherPasswords(secrets: readonly string[]): readonly string[] {
  const first = secrets.findIndex((secret) => kindOf(secret) === 'password');
  return secrets.filter((secret, index) => kindOf(secret) !== 'password' || index === first);
}

/** Judges a login. With a second factor the code follows the password after a `$`; app passwords need none. */
export async function judge(secrets: readonly string[], sent: string, nowMs: number): Promise<SecretOutcome> {
  for (const secret of secrets.filter((one) => kindOf(one) === 'app')) {
    if ((await matches(secret.replace(APP, ''), sent)) === 'right') return 'right';
  }
  const password = secrets.find((secret) => kindOf(secret) === 'password');
  if (password === undefined) return 'wrong';
  const enrolment = secrets.find((secret) => kindOf(secret) === 'totp');
  if (enrolment === undefined) return matches(password, sent);

  const whole = await matches(password, sent);
  if (whole !== 'wrong') return whole === 'right' ? 'codeRequired' : whole;
  const [, withoutCode, code] = CODE.exec(sent) ?? [];
  if (withoutCode === undefined || !isCodeOf(enrolment, code ?? '', nowMs)) return 'wrong';
  return matches(password, withoutCode);
}

/** Compares in a time that does not depend on where the texts differ. */
export function equal(one: string, another: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(another)];
  return left.length === right.length && timingSafeEqual(left, right);
}

async function matches(stored: string, sent: string): Promise<SecretOutcome> {
  if (!/^[$_{]/.test(stored)) return equal(stored, sent) ? 'right' : 'wrong';
  const [, ln, r, p, salt = '', hash = ''] = SCRYPT.exec(stored) ?? [];
  if (ln === undefined) return 'unknownFormat';
  const pair = createHmac('sha256', processKey).update(`${stored} ${sent}`).digest('base64');
  if (rightOnes.has(pair)) return 'right';
  const expected = Buffer.from(hash, 'base64');
  const options = { N: 2 ** Number(ln), r: Number(r), p: Number(p), maxmem: SCRYPT_BYTES_MAX };
  try {
    const derived = await derive(sent, Buffer.from(salt, 'base64'), expected.length, options);
    if (!timingSafeEqual(derived, expected)) return 'wrong';
    if (rightOnes.size === RIGHT_ONES_MAX) rightOnes.clear();
    rightOnes.add(pair);
    return 'right';
  } catch {
    // Parameters that are out of range, or need more memory than a login may take.
    return 'unknownFormat';
  }
}

/** RFC 6238 with the step before and the one after, as clocks differ. */
function isCodeOf(enrolment: string, code: string, nowMs: number): boolean {
  const key = decodeBase32(URL.parse(enrolment)?.searchParams.get('secret') ?? '');
  // The codes of an empty key are public.
  if (key.length === 0) return false;
  const step = Math.floor(nowMs / 1000 / STEP_SECONDS);
  return [step - 1, step, step + 1].some((counter) => codeAt(key, counter) === code);
}

/** RFC 4226, section 5.3. */
function codeAt(key: Buffer, counter: number): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const digest = createHmac('sha1', key).update(message).digest();
  const offset = (digest.at(-1) ?? 0) & 0xf;
  return String((digest.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0');
}

function decodeBase32(text: string): Buffer {
  const digits = [...text.toUpperCase()].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter));
  const bits = digits.filter((digit) => digit >= 0).map((digit) => digit.toString(2).padStart(5, '0'));
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
