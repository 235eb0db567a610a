// The sections are the long-lived parts of the process, grouped by their task. Each file of sections/ opens one section, from sections that
// are open already.

import type { BeginInternal } from '../edge/internal-exchanges.ts';
import type { Refusals } from '../edge/refusal/refusals.ts';
import type { Overload } from '../overload/overload.ts';
import type { Tunnels } from '../tunnel/tunnels.ts';
import type { Executors } from '../upstream/routes.ts';
import type { CallersSection } from './sections/callers.ts';
import type { CertificatesSection } from './sections/certificates.ts';
import type { CountersSection } from './sections/counters.ts';
import type { FirstSections } from './sections/observation.ts';
import type { StoresSection } from './sections/stores.ts';
import type { UpstreamsSection } from './sections/upstreams.ts';

export interface Sections extends FirstSections {
  readonly counters: CountersSection;
  readonly upstreams: UpstreamsSection;
  readonly callers: CallersSection;
  readonly stores: StoresSection;
  readonly certificates: CertificatesSection;
  /** The parts of this section that the pipeline uses. */
  readonly traffic: {
    readonly refusals: Refusals;
    readonly overload: Overload;
    readonly tunnels: Tunnels;
    /** Begins an exchange that no connection carries. */
    readonly beginInternal: BeginInternal;
    readonly executors: Executors;
  };
}
