// What the documentation is made from.

import type { Look } from './assets.ts';
import type { GuideSettings } from './guide-facts.ts';
import type { GuideSource } from './guides.ts';
import type { DocumentTools, Reference } from './reference/reference.ts';

/** A published contract and its document. */
export interface Published extends Reference {
  /** The document as JSON. */
  json(): Promise<Buffer>;
}

export interface PortalOptions extends GuideSettings {
  /** The URL that clients use, without a final slash. */
  readonly publicUrl: string;
  contracts(): readonly Published[];
  readonly tools: DocumentTools;
  /** Undefined: the title of the contract, if there is one. */
  readonly title: string | undefined;
  /** Markdown. */
  readonly description: string | undefined;
  readonly look: Look;
  readonly guides: readonly GuideSource[];
  readonly builtInGuides: boolean | readonly string[];
  readonly sampleOperation: string | undefined;
}
