// Certificates for tests: an authority, and pairs that it vouches for (RFC 5280).

import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import {
  der,
  derInteger,
  derTagged,
  derTrue,
  octets,
  oid,
  sequence,
  set,
  utcTime,
  utf8,
} from '../../gateway/acme/der.ts';
import { signatureAlgorithm, signed } from '../../gateway/acme/x509.ts';

export interface CertificatePair {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

interface CertificateOptions {
  /** Host names and addresses it is for; the first one is also its common name. */
  readonly names: readonly string[];
  /** Days from now at which it begins and ends to be valid; 0 and 90 by default. */
  readonly fromDays?: number;
  readonly days?: number;
  /** The kind of its key; `ec` (P-256) by default. */
  readonly kind?: 'ec' | 'rsa';
}

export interface Authority extends CertificatePair {
  /** Issues a certificate for servers and clients, with a new key. */
  issue(options: CertificateOptions): CertificatePair;
  /** Issues a certificate with these names for a public key, PEM. */
  certify(content: Certified): string;
}

interface Certified {
  readonly names: readonly string[];
  readonly key: KeyObject;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Hexadecimal; default: the next one. */
  readonly serialNumber?: string;
}

interface Content extends Omit<Certified, 'names'> {
  readonly issuer: string;
  readonly subject: string;
  readonly extensions: readonly Buffer[];
}

const DAY_MS = 86_400_000;
/** Clocks are read to the second. */
const SLACK_MS = 60_000;

const COMMON_NAME = '2.5.4.3';
const SUBJECT_KEY = '2.5.29.14';
const KEY_USAGE = '2.5.29.15';
const ALTERNATIVE_NAMES = '2.5.29.17';
const BASIC_CONSTRAINTS = '2.5.29.19';
const AUTHORITY_KEY = '2.5.29.35';
const EXTENDED_USAGE = '2.5.29.37';
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** Contents of BIT STRINGs: the number of unused bits, then keyCertSign and cRLSign, or digitalSignature. */
const SIGNS_CERTIFICATES = Buffer.from([1, 0x06]);
const SIGNS = Buffer.from([7, 0x80]);

/** Length of the point at the end of the SPKI of a P-256 key. Its digest is the identifier of the key (section 4.2.1.2). */
const POINT_BYTES = 65;

let serial = 2 ** 24;

/** Makes an authority, in about a millisecond, as each certificate is but those with an RSA key. */
export function createAuthority(name = 'Test Authority'): Authority {
  const own = newKey('ec');
  const keyId = createHash('sha1')
    .update(spkiOf(createPublicKey(own)).subarray(-POINT_BYTES))
    .digest();

  const sign = (content: Omit<Content, 'issuer'>) =>
    new X509Certificate(signed(bodyOf({ ...content, issuer: name }), own)).toString();

  function certify({ names, ...content }: Certified): string {
    return sign({
      ...content,
      subject: names[0] ?? '',
      extensions: [
        critical(BASIC_CONSTRAINTS, sequence()),
        critical(KEY_USAGE, der(0x03, SIGNS)),
        extension(EXTENDED_USAGE, sequence(oid(SERVER_AUTH), oid(CLIENT_AUTH))),
        extension(ALTERNATIVE_NAMES, sequence(...names.map(alternativeName))),
        extension(AUTHORITY_KEY, sequence(der(0x80, keyId))),
      ],
    });
  }

  const now = Date.now();
  const certificate = sign({
    subject: name,
    key: createPublicKey(own),
    fromMs: now - SLACK_MS,
    untilMs: now + 3650 * DAY_MS,
    extensions: [
      critical(BASIC_CONSTRAINTS, sequence(derTrue())),
      critical(KEY_USAGE, der(0x03, SIGNS_CERTIFICATES)),
      extension(SUBJECT_KEY, octets(keyId)),
    ],
  });

  return {
    certificate,
    key: textOf(own),
    certify,
    issue({ names, fromDays = 0, days = 90, kind = 'ec' }) {
      const key = newKey(kind);
      const fromMs = Date.now() + fromDays * DAY_MS - SLACK_MS;
      const untilMs = Date.now() + days * DAY_MS;
      return { certificate: certify({ names, key: createPublicKey(key), fromMs, untilMs }), key: textOf(key) };
    },
  };
}

function newKey(kind: 'ec' | 'rsa'): KeyObject {
  if (kind === 'ec') return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
}

const spkiOf = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
const textOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }) as string;
const nameOf = (text: string) => sequence(set(sequence(oid(COMMON_NAME), utf8(text))));
const extension = (id: string, content: Buffer) => sequence(oid(id), octets(content));
const critical = (id: string, content: Buffer) => sequence(oid(id), derTrue(), octets(content));

/** Returns a serial number of eight digits. */
function nextSerial(): string {
  serial += 1;
  return serial.toString(16).padStart(8, '0');
}

/** Returns the signed part of a certificate of version 3. */
function bodyOf({ issuer, subject, key, fromMs, untilMs, serialNumber = nextSerial(), extensions }: Content): Buffer {
  return sequence(
    derTagged(0, derInteger(Buffer.from([2]))),
    derInteger(Buffer.from(serialNumber, 'hex')),
    signatureAlgorithm(),
    nameOf(issuer),
    sequence(utcTime(fromMs), utcTime(untilMs)),
    nameOf(subject),
    spkiOf(key),
    derTagged(3, sequence(...extensions)),
  );
}

/** Returns an alternative name: a host name or an address. */
function alternativeName(name: string): Buffer {
  return isIP(name) === 0 ? der(0x82, Buffer.from(name, 'ascii')) : der(0x87, bytesOf(name));
}

/** Returns the bytes of an IPv4 address, or of an IPv6 address without an IPv4 part. */
function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [before = [], after = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const groups = [...before, ...zeros, ...after].map((group) => group.padStart(4, '0'));
  return Buffer.from(groups.join(''), 'hex');
}
