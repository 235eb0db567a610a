// Mistakes in the certificates that gateway.yaml names.

import type { Mistake } from '../../config-errors.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { type Certificate, type CertificateFiles, isProblem, readCertificate, untimely } from './certificate.ts';

/** The part of a configuration that names certificates. */
interface Named {
  readonly gateway: { readonly tls?: { readonly certificates?: readonly CertificateFiles[] | undefined } | undefined };
  readonly sources: { readonly gateway: Pick<Source, 'mistakeAt'> };
}

/** Reads all certificates and pushes a mistake for each unusable one. */
export function loadCertificates({ gateway, sources }: Named, directory: string, mistakes: Mistake[]): Certificate[] {
  return (gateway.tls?.certificates ?? []).flatMap((files, index) => {
    const read = readCertificate(files, directory);
    if (!isProblem(read)) return [read];
    mistakes.push(sources.gateway.mistakeAt(['tls', 'certificates', index, read.at], read.reason, read.remedy));
    return [];
  });
}

/** Mistakes for certificates outside their validity. The gateway starts with them all the same: not every client checks. */
export function untimelyMistakes({ gateway, sources }: Named, all: readonly Certificate[], nowMs: number): Mistake[] {
  return all.flatMap((certificate, index) => {
    const problem = untimely(certificate, nowMs);
    if (gateway.tls === undefined || problem === undefined) return [];
    const { at, reason, remedy } = problem;
    return [sources.gateway.mistakeAt(['tls', 'certificates', index, at], reason, remedy)];
  });
}
