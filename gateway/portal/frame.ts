// Makes the frame of all pages: the title, the links to the sections, and the bar for a test key.

import type { Assets } from './assets.ts';
import type { ChosenSample } from './guide-facts.ts';
import type { Frame, Page } from './layout.ts';
import { markOf } from './look.ts';
import type { AddressedContract } from './reference/addresses.ts';
import type { PortalOptions } from './site.ts';

interface FrameParts {
  readonly assets: Assets;
  readonly hasGuides: boolean;
  readonly otherPages: readonly Page[];
  readonly references: readonly AddressedContract[];
  readonly sample: ChosenSample | undefined;
}

export function frameOf(
  { look, help, publicUrl }: PortalOptions,
  title: string,
  { assets, hasGuides, otherPages, references, sample }: FrameParts,
): Frame {
  const all = references.flatMap(({ operations }) => operations.map(({ operation }) => operation));
  const takesTestKeys = all.some(
    ({ hasTestMode, security }) => hasTestMode && security.some(({ scheme }) => scheme === 'apiKey'),
  );
  return {
    title,
    assets: assets.base,
    logo: look.logo && `${assets.base}/logo`,
    mark: markOf(title),
    sections: [
      ['/docs', 'Start'],
      ...(hasGuides ? [['/docs/guides', 'Guides'] as const] : []),
      ['/docs/reference', 'Reference'],
      ['/docs/errors', 'Errors'],
      ...otherPages.map(({ path, title: name }) => [path, name] as const),
    ],
    keyBar: takesTestKeys ? { probe: probeOf(sample, publicUrl) } : undefined,
    help,
  };
}

/** Returns a request that checks a test key, which is the sample operation, if pages may call it. */
function probeOf(sample: ChosenSample | undefined, publicUrl: string): string | undefined {
  if (sample === undefined || sample.server !== publicUrl) return undefined;
  const { method, path, hasTestMode, security, parameters } = sample.at.operation;
  const isFree = parameters.every(({ required }) => required !== true) && !path.includes('{');
  const takesKeys = security.some(({ scheme }) => scheme === 'apiKey');
  return method === 'GET' && hasTestMode && isFree && takesKeys ? path : undefined;
}
