// The list of all resources, and the references between them.
import type { ResourceName } from './kinds.ts';
import type { SandboxResource } from './resource.ts';
import { bookings } from './resources/bookings.ts';
import { communications } from './resources/communications.ts';
import { customers } from './resources/customers.ts';
import { experiences } from './resources/experiences.ts';
import { guests } from './resources/guests.ts';
import { invoices } from './resources/invoices.ts';
import { jobs } from './resources/jobs.ts';
import { memberships } from './resources/memberships.ts';
import { technicians } from './resources/technicians.ts';

export const RESOURCES: Readonly<Record<ResourceName, SandboxResource>> = {
  customers,
  jobs,
  invoices,
  technicians,
  memberships,
  communications,
  guests,
  experiences,
  bookings,
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
