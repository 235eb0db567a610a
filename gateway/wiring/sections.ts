// Types of all sections whose parts serve requests. They live from start to end of the process; sections/ has a file for each.

import type { BeginInternal } from '../edge/exchanges.ts';
import type { Refusals } from '../edge/refusal/refusals.ts';
import type { Overload } from '../overload/overload.ts';
import type { Tunnels } from '../tunnel/tunnels.ts';
import type { Executors } from '../upstream/routes.ts';
import type { CallersSection, SectionsAboveCallers } from './sections/callers.ts';
import type { CertificatesSection } from './sections/certificates.ts';

export interface SectionsAboveTraffic extends SectionsAboveCallers {
  readonly callers: CallersSection;
  readonly certificates: CertificatesSection;
}

/** The sections that the steps of the pipeline use. */
export interface Sections extends SectionsAboveTraffic {
  readonly traffic: {
    readonly refusals: Refusals;
    readonly overload: Overload;
    readonly tunnels: Tunnels;
    /** Begins an exchange that no connection carries. */
    readonly beginInternal: BeginInternal;
    readonly executors: Executors;
  };
}
