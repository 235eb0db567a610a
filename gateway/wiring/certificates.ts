// The certificates of the public listener: read when the gateway starts, and read again when their files change. One that is fine is shown
// from the next handshake on; one that is not changes nothing, and everybody is told. Apart from the rest of the configuration, since a
// mistake somewhere in it must not keep a renewed certificate out.

import { hostname } from 'node:os';
import type { KeyStore } from '../auth/store/store.ts';
import type { Config } from '../config/load.ts';
import { watchFiles } from '../config/watch.ts';
import type { Mistake } from '../config-errors.ts';
import {
  type Certificate,
  type CertificateFiles,
  type CertificateProblem,
  pathsOf,
  readCertificate,
  untimely,
} from '../edge/tls/certificate.ts';
import type { Log } from '../observe/log.ts';
import { shownPath } from '../source.ts';

const DAY_MS = 86_400_000;
/** Renewals are due long before. */
const WARN_BEFORE_MS = 14 * DAY_MS;
const LOOK_AT_CLOCK_MS = 3_600_000;

type Named = Pick<Config, 'sources'> & { readonly gateway: Pick<Config['gateway'], 'tls'> };

/** Reads all of them; those that cannot be used are pushed as mistakes. */
export function loadCertificates({ gateway, sources }: Named, directory: string, mistakes: Mistake[]): Certificate[] {
  return (gateway.tls?.certificates ?? []).flatMap((files, index) => {
    const read = readCertificate(files, directory);
    if (!isProblem(read)) return [read];
    mistakes.push(sources.gateway.mistakeAt(['tls', 'certificates', index, read.at], read.reason, read.remedy));
    return [];
  });
}

/** Those that clients would not accept at this time. A gateway starts with them all the same: not every client looks. */
export function untimelyMistakes({ gateway, sources }: Named, all: readonly Certificate[], nowMs: number): Mistake[] {
  return all.flatMap((certificate, index) => {
    const problem = untimely(certificate, nowMs);
    if (gateway.tls === undefined || problem === undefined) return [];
    const { at, reason, remedy } = problem;
    return [sources.gateway.mistakeAt(['tls', 'certificates', index, at], reason, remedy)];
  });
}

export interface CertificatesOptions {
  /** As the configuration names them, relative to the directory. */
  readonly files: readonly CertificateFiles[];
  readonly directory: string;
  /** What those files held when the gateway started. */
  readonly loaded: readonly Certificate[];
  readonly log: Log;
  readonly store: Pick<KeyStore, 'audit'>;
  now(): number;
  /** Shows them from now on. */
  use(certificates: readonly Certificate[]): void;
  onRenewal(outcome: 'applied' | 'refused'): void;
}

export interface CertificateStatus {
  readonly names: readonly string[];
  readonly file: string;
  readonly expires_at: string;
  readonly days_left: number;
  /** Why its files as they are now are not what is shown; null if they are. */
  readonly last_failure: { readonly at: string; readonly reason: string } | null;
}

export interface Certificates {
  status(): readonly CertificateStatus[];
  /** Reads the files now. */
  reload(): void;
  /** Nothing is replaced any more. */
  stop(): void;
}

interface Place {
  readonly files: CertificateFiles;
  readonly file: string;
  shown: Certificate;
  failure: CertificateStatus['last_failure'];
  /** Of what was last warned: a day before the end of one certificate. */
  warned: string;
}

/** Begins to watch the files. */
export function followCertificates(options: CertificatesOptions): Certificates {
  const { directory, log, now } = options;
  const places = options.files.map((files, index): Place => {
    const [file] = pathsOf(files, directory).map(shownPath) as [string];
    return { files, file, shown: options.loaded[index] as Certificate, failure: null, warned: '' };
  });

  function reload(): void {
    const renewed = places.filter(renew);
    if (renewed.length > 0) options.use(places.map(({ shown }) => shown));
    warn();
  }

  /** Whether another certificate is to be shown in this place. */
  function renew(place: Place): boolean {
    const read = readCertificate(place.files, directory);
    if (!isProblem(read) && isSame(read, place.shown)) {
      place.failure = null;
      return false;
    }
    const problem = isProblem(read) ? read : untimely(read, now());
    if (problem !== undefined) {
      refuse(place, problem);
      return false;
    }
    place.shown = read as Certificate;
    place.failure = null;
    const told = { certificate: place.file, names: place.shown.names, expires_at: timeOf(place.shown.expiresAtMs) };
    log.logger.info(told, 'a certificate was renewed');
    options.onRenewal('applied');
    void note({ outcome: 'applied', ...told });
    return true;
  }

  function refuse(place: Place, { at, reason }: CertificateProblem): void {
    // Told once, however often it is looked at.
    if (place.failure?.reason === reason) return;
    place.failure = { at: timeOf(now()), reason };
    const told = { certificate: place.file, of: at, reason };
    log.logger.error(told, 'a renewed certificate cannot be used; the one before is shown on');
    options.onRenewal('refused');
    void note({ outcome: 'refused', ...told });
  }

  async function note(details: Readonly<Record<string, unknown>>): Promise<void> {
    try {
      await options.store.audit.append('certificates', { ...details, host: hostname() });
    } catch (error) {
      log.logger.error(
        { reason: (error as Error).message, ...details },
        'the audit log could not be told of a renewal',
      );
    }
  }

  function warn(): void {
    for (const place of places) {
      const { names, expiresAtMs, fingerprint } = place.shown;
      const leftMs = expiresAtMs - now();
      const days = Math.floor(leftMs / DAY_MS);
      const warned = `${fingerprint} ${days}`;
      if (leftMs > WARN_BEFORE_MS || place.warned === warned) continue;
      place.warned = warned;
      const told = { certificate: place.file, names, expires_at: timeOf(expiresAtMs), days_left: days };
      if (leftMs > 0) log.logger.warn(told, 'a certificate is about to expire');
      else log.logger.error(told, 'a certificate has expired');
    }
  }

  // Of several files that change one after the other, every state in between would be held against the other half.
  const stopWatching = watchFiles({
    directories: [],
    furtherFiles: () => places.flatMap(({ files }) => pathsOf(files, directory)),
    onChange: reload,
  });
  const clock = setInterval(warn, LOOK_AT_CLOCK_MS).unref();
  warn();

  return {
    status: () =>
      places.map(({ file, shown, failure }) => ({
        names: shown.names,
        file,
        expires_at: timeOf(shown.expiresAtMs),
        days_left: Math.floor((shown.expiresAtMs - now()) / DAY_MS),
        last_failure: failure,
      })),
    reload,
    stop() {
      clearInterval(clock);
      stopWatching();
    },
  };
}

function isProblem(read: Certificate | CertificateProblem): read is CertificateProblem {
  return 'reason' in read;
}

function isSame(one: Certificate, other: Certificate): boolean {
  return one.certificate === other.certificate && one.key === other.key;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
