// Pure: the caller of a decision record.

import type { DecisionRecord } from './record.ts';
import { ANY_KEY } from './who.ts';

/** Names the credential, and the organization if it has one. */
export function callerIn(record: DecisionRecord): string {
  const { organization, tier, mode } = record;
  const who = credentialIn(record);
  return organization === undefined ? who : `${who}, organization ${organization}, tier ${tier}, mode ${mode}`;
}

function credentialIn({ key_id: key, token_issuer: issuer, subject }: DecisionRecord): string {
  if (issuer !== undefined) return `token of ${issuer} for ${subject}`;
  if (key === undefined) return `user name ${subject}`;
  if (key === 'anonymous') return 'anonymous: the operation is public';
  return key === ANY_KEY ? 'any key' : `key ${key}`;
}
