// The certificates of the public listener: read at start and again when their files change. A valid certificate is used from the next
// handshake on. An invalid certificate changes nothing and is logged, audited and counted. Certificates are not part of a reload of the
// configuration, because a mistake in another file must not keep a renewed certificate out.

import type { KeyStore } from '../auth/store/key-store.ts';
import { watchFiles } from '../config/watch.ts';
import {
  type Certificate,
  type CertificateFiles,
  type CertificateProblem,
  isProblem,
  pathsOf,
  readCertificate,
  untimely,
} from '../edge/tls/certificate.ts';
import type { Log } from '../observe/log/log.ts';
import { shownPath } from '../shared/file-text.ts';
import { isoTime } from '../shared/text.ts';
import { createAuditNote } from './audit-note.ts';
import { type CertificateStatus, lifeStatusOf, watchExpiry } from './certificate-status.ts';

interface CertificatesOptions {
  /** Paths from the configuration, relative to the directory. */
  readonly files: readonly CertificateFiles[];
  readonly directory: string;
  /** The content of these files at start. */
  readonly loaded: readonly Certificate[];
  readonly log: Log;
  readonly store: Pick<KeyStore, 'audit'>;
  /** The name of this gateway in the audit log. */
  readonly instance: string;
  now(): number;
  use(certificates: readonly Certificate[]): void;
  onRenewal(outcome: 'applied' | 'refused'): void;
}

export interface Certificates {
  status(): readonly CertificateStatus[];
  /** Reads the files now. */
  reload(): void;
  stop(): void;
}

interface Place {
  readonly files: CertificateFiles;
  readonly file: string;
  current: Certificate;
  failure: CertificateStatus['last_failure'];
}

export function followCertificates(options: CertificatesOptions): Certificates {
  const { directory, log, now } = options;
  const note = createAuditNote(options.store, log, 'a certificate renewal', options.instance);
  const places = options.files.map((files, index): Place => {
    const [file] = pathsOf(files, directory).map(shownPath) as [string];
    return { files, file, current: options.loaded[index] as Certificate, failure: null };
  });

  function reload(): void {
    const renewed = places.filter(renew);
    if (renewed.length > 0) options.use(places.map(({ current }) => current));
    expiry.check();
  }

  /** Reads the files of one place again. Returns whether the certificate has changed. */
  function renew(place: Place): boolean {
    const read = readCertificate(place.files, directory);
    if (!isProblem(read) && isSame(read, place.current)) {
      place.failure = null;
      return false;
    }
    const problem = isProblem(read) ? read : untimely(read, now());
    if (problem !== undefined) {
      refuse(place, problem);
      return false;
    }
    place.current = read as Certificate;
    place.failure = null;
    const fields = {
      certificate: place.file,
      names: place.current.names,
      expires_at: isoTime(place.current.expiresAtMs),
    };
    log.logger.info(fields, 'a certificate was renewed');
    options.onRenewal('applied');
    void note('certificates', { outcome: 'applied', ...fields });
    return true;
  }

  function refuse(place: Place, { at, reason }: CertificateProblem): void {
    // Report the same reason only once, although the files are read many times.
    if (place.failure?.reason === reason) return;
    place.failure = { at: isoTime(now()), reason };
    const fields = { certificate: place.file, of: at, reason };
    log.logger.error(fields, 'a renewed certificate cannot be used; the previous one stays in use');
    options.onRenewal('refused');
    void note('certificates', { outcome: 'refused', ...fields });
  }

  const expiry = watchExpiry(log.logger, now, () => places.map(({ file, current }) => [file, current]));
  // watchFiles waits until writing has settled, because a certificate without its new key would be refused.
  const stopWatching = watchFiles({
    directories: [],
    otherFiles: () => places.flatMap(({ files }) => pathsOf(files, directory)),
    onChange: reload,
  });

  return {
    status: () =>
      places.map(({ file, current, failure }) => ({ ...lifeStatusOf(current, now()), file, last_failure: failure })),
    reload,
    stop() {
      expiry.stop();
      stopWatching();
    },
  };
}

function isSame(one: Certificate, other: Certificate): boolean {
  return one.certificate === other.certificate && one.key === other.key;
}
