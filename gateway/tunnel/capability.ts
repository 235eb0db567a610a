// The capability `tunnel`: a field of the log line.

import { type Capability, type FactsOf, rarelyNoted } from '../catalogue/capability.ts';

const FIELDS = {
  tunnel: {
    section: 'kind',
    stage: 'admit',
    type: 'text',
    forClients: false,
    notes: { tunnel: rarelyNoted<string>() },
    meaning: 'the tunnel that passed the request on',
  },
} as const;

const FACTS: FactsOf<typeof FIELDS> = {
  tunnel: { admit: (tunnel) => `passed on as it was, through the tunnel ${tunnel}` },
};

export const TUNNEL = { fields: FIELDS, facts: FACTS } as const satisfies Capability;
