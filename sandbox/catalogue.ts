// The list of all resources, and the references between them.
import type { ResourceName } from './kinds.ts';
import type { SandboxResource } from './resource.ts';
import { BOOKINGS } from './resources/bookings.ts';
import { COMMUNICATIONS } from './resources/communications.ts';
import { CUSTOMERS } from './resources/customers.ts';
import { EXPERIENCES } from './resources/experiences.ts';
import { GUESTS } from './resources/guests.ts';
import { INVOICES } from './resources/invoices.ts';
import { JOBS } from './resources/jobs.ts';
import { MEMBERSHIPS } from './resources/memberships.ts';
import { TECHNICIANS } from './resources/technicians.ts';

export const RESOURCES: Readonly<Record<ResourceName, SandboxResource>> = {
  customers: CUSTOMERS,
  jobs: JOBS,
  invoices: INVOICES,
  technicians: TECHNICIANS,
  memberships: MEMBERSHIPS,
  communications: COMMUNICATIONS,
  guests: GUESTS,
  experiences: EXPERIENCES,
  bookings: BOOKINGS,
};

export interface Referrer {
  readonly from: SandboxResource;
  readonly member: string;
}

/** The members of other records that can hold the identifier of such a record. */
export function referrersOf(target: ResourceName): readonly Referrer[] {
  return Object.values(RESOURCES).flatMap((from) =>
    [...referencesOf(from), ...(from.traces ?? [])]
      .filter(({ to }) => to === target)
      .map(({ member }) => ({ from, member })),
  );
}

/** The members through which a client makes a record refer to others. */
export function referencesOf(
  resource: SandboxResource,
): readonly { readonly member: string; readonly to: ResourceName }[] {
  return Object.entries(resource.fields).flatMap(([member, { kind }]) => (kind.to ? [{ member, to: kind.to }] : []));
}
