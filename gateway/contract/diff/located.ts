// Adds file positions to findings.

import type { Mistake } from '../../shared/mistakes.ts';
import type { Locate } from '../lint/positions.ts';
import type { ContractDocument } from '../reading/document.ts';
import type { DiffFinding } from './findings.ts';

export interface LocatedFinding extends DiffFinding {
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** A finding behind a reference into another file is located at the reference. */
export async function locateFindings(
  findings: readonly DiffFinding[],
  documents: { readonly old: readonly ContractDocument[]; readonly new: readonly ContractDocument[] },
  locate: Locate,
): Promise<LocatedFinding[]> {
  const byFile = {
    old: new Map(documents.old.map((document) => [document.file, document])),
    new: new Map(documents.new.map((document) => [document.file, document])),
  };
  const made = findings.map((finding): { finding: DiffFinding; mistake: Mistake | undefined } => {
    const document = byFile[finding.side].get(finding.file);
    // A document fetched from a URL has no local file.
    const isThere = document !== undefined && !/^https?:/.test(finding.file);
    return { finding, mistake: isThere ? document.position().mistakeAt(finding.place, '', '') : undefined };
  });
  for (const document of [...byFile.old.values(), ...byFile.new.values()]) await document.position().locate(locate);
  return made.map(({ finding, mistake }) => ({ ...finding, line: mistake?.line, column: mistake?.column }));
}
