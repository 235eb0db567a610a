// Certificates for tests, made by openssl: an authority, and pairs that it vouches for.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CertificatePair {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** Host names and addresses it is for; the first one is also its common name. */
  readonly names: readonly string[];
  /** Days from now at which it begins and ends to be valid; 0 and 90 by default. */
  readonly fromDays?: number;
  readonly days?: number;
  /** The kind of its key; `ec` (P-256) by default. */
  readonly kind?: 'ec' | 'rsa';
}

export interface Authority extends CertificatePair {
  /** A certificate for servers and clients alike, with a key of its own. */
  issue(options: CertificateOptions): CertificatePair;
  /** Removes its files; issued certificates stay usable. */
  remove(): void;
}

const DAY_MS = 86_400_000;

/** Makes an authority; takes a few tens of milliseconds, as each certificate does. */
export function createAuthority(name = 'Test Authority'): Authority {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-certificates-'));
  const fileOf = (file: string) => join(directory, file);
  const textOf = (file: string) => readFileSync(fileOf(file), 'utf8');
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  let issued = 0;

  const own = ['-subj', `/CN=${name}`, '-days', '3650', '-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
  openssl('req', '-x509', ...newKey('ec'), '-keyout', 'authority.key', '-out', 'authority.pem', ...own);
  // The state of `openssl ca`: it alone can set both ends of the validity.
  writeFileSync(fileOf('index.txt'), '');

  return {
    certificate: textOf('authority.pem'),
    key: textOf('authority.key'),
    issue({ names, fromDays = 0, days = 90, kind = 'ec' }) {
      issued += 1;
      const base = `issued-${issued}`;
      openssl('req', ...newKey(kind), '-keyout', `${base}.key`, '-out', `${base}.csr`, '-subj', `/CN=${names[0]}`);
      writeFileSync(fileOf(`${base}.cnf`), configurationFor(names));
      // A minute of slack, since clocks are read to the second.
      const from = timeAt(Date.now() + fromDays * DAY_MS - 60_000);
      const until = timeAt(Date.now() + days * DAY_MS);
      const validity = ['-startdate', from, '-enddate', until];
      writeFileSync(fileOf('serial'), `${String(issued).padStart(4, '0')}\n`);
      openssl(
        'ca',
        '-batch',
        '-notext',
        '-config',
        `${base}.cnf`,
        ...validity,
        '-in',
        `${base}.csr`,
        '-out',
        `${base}.pem`,
      );
      return { certificate: textOf(`${base}.pem`), key: textOf(`${base}.key`) };
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function newKey(kind: 'ec' | 'rsa'): string[] {
  const form = kind === 'ec' ? ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'] : ['rsa:2048'];
  return ['-newkey', ...form, '-nodes'];
}

/** `20261121030000Z` */
function timeAt(ms: number): string {
  return `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
}

function configurationFor(names: readonly string[]): string {
  const alternatives = names.map((name) => `${/^[\d.]+$|:/.test(name) ? 'IP' : 'DNS'}:${name}`).join(',');
  return `[ca]
default_ca = own
[own]
dir = .
new_certs_dir = .
database = index.txt
serial = serial
certificate = authority.pem
private_key = authority.key
default_md = sha256
policy = any
x509_extensions = issued
unique_subject = no
[any]
commonName = supplied
[issued]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth,clientAuth
subjectAltName = ${alternatives}
`;
}
