// Checks that a Stalwart mail server could reload its configuration: with an error in it, a reload answers 200 and applies nothing.

import type { UpstreamEntry } from '../../../config/upstreams/upstreams-file.ts';
import { type Finding, fail, ok, warn } from '../../finding.ts';
import { type FactsOptions, reloadReply } from './facts.ts';
import { reloadStep } from './rows.ts';

/** Nothing for another product. One request, which changes nothing. */
export async function reloadFindings(
  { product }: Pick<UpstreamEntry, 'product'>,
  name: string,
  options: Pick<FactsOptions, 'backend' | 'entry'>,
): Promise<Finding[]> {
  if (product !== 'stalwart') return [];
  const { verdict, says, change = '' } = reloadStep(await reloadReply(options));
  if (verdict === 'holds') return [ok(name, says)];
  const remedy = `Change: ${change.replace(/\.$/, '')}.`;
  return [verdict === 'does not hold' ? fail(name, says, remedy) : warn(name, says, remedy)];
}
