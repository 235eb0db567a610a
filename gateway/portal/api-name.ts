// The title and the description of the API as a whole.

import type { Reference } from './reference/reference.ts';
import type { PortalOptions } from './site.ts';

/** Maximum length of the title. If the titles of all services are longer together, they are in the description. */
const TITLES_MAX = 60;

/**
 * Returns the title and the description of the API, from the configuration, otherwise from the contracts. Contracts of the gateway itself are
 * used only if there are no others.
 */
export function apiNameOf(
  { title, description }: Pick<PortalOptions, 'title' | 'description'>,
  published: readonly Reference[],
): { title: string; description: string } {
  const ofServices = published.filter(({ isOfGateway }) => !isOfGateway);
  const named = ofServices.length > 0 ? ofServices : published;
  const [sole] = named;
  if (sole !== undefined && named.length === 1)
    return { title: title ?? (sole.title || 'API'), description: description ?? sole.description };
  const titles = named.flatMap((one) => one.title || []).join(', ');
  return {
    title: title ?? (titles !== '' && titles.length <= TITLES_MAX ? titles : 'API'),
    description: description ?? (titles === '' ? '' : `Several services at one address: ${titles}.`),
  };
}
