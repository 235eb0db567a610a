// The shape of `portal` in gateway.yaml, which says how the documentation under /docs looks, and names its guides. Also checks the names of
// tiers of limits.yaml, and of the operation that the first page shows.

import { z } from 'zod';
import { type Mistake, suggest } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { name } from '../parts.ts';

/** The backgrounds of pages, light and dark, that text in the accent colour has to stand out from. */
const PAGES = { light: '#ffffff', dark: '#0e1017' } as const;
const CONTRAST_MIN = 4.5;

const colour = (scheme: keyof typeof PAGES) =>
  z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as "#1a56c4", in quotes')
    .refine(
      (text) => contrastOf(text, PAGES[scheme]) >= CONTRAST_MIN,
      `must have a contrast of ${CONTRAST_MIN} to 1 to the ${scheme} page (${PAGES[scheme]}): links are written in it`,
    )
    .optional()
    .meta({ pattern: '^#[0-9a-fA-F]{6}$', values: 'colour such as `"#1a56c4"`' });

const path = z
  .string()
  .regex(
    /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/,
    'must be a path below the configuration directory',
  );

/**
 * The form of a link on a page. It has no spaces, quotation marks or control characters, because it is written into an attribute of HTML.
 */
const webAddress = z
  .string()
  .max(500)
  .refine(
    (text) => /^https?:\/\/[^\s"'<>`\\^{|}]+$/.test(text) && URL.canParse(text),
    'must be an https:// or http:// address',
  );
const contactAddress = z
  .string()
  .max(500)
  .refine(
    (text) => /^[^\s@"'<>:/?#]+@[A-Za-z0-9.-]+$/.test(text) || webAddress.safeParse(text).success,
    'must be a mail address such as api@example.com, or an https:// address',
  )
  .transform((text) => (/^https?:/.test(text) ? text : `mailto:${text}`));

export const portal = z.strictObject({
  title: z.string().min(1, 'must have 1 to 80 characters').max(80, 'must have 1 to 80 characters').optional().meta({
    description:
      'The name of the API on every page. Default: the title of the contract, or the titles of several if they are short together.',
    values: '1–80 characters',
  }),
  description: z.string().max(500, 'must have at most 500 characters').optional().meta({
    description: 'What the API is, in one or two sentences of Markdown. Default: the description of the contract.',
    values: 'at most 500 characters',
  }),
  logo: path
    .regex(/\.(svg|png|webp|jpe?g)$/, 'must be an .svg, .png, .webp or .jpg file')
    .optional()
    .meta({ description: 'The logo on every page, 24 pixels high.', values: 'file below the configuration directory' }),
  colours: z
    .strictObject({
      light: colour('light').describe('The colour of links and marks on light pages.'),
      dark: colour('dark').describe('The colour of links and marks on dark pages.'),
    })
    .prefault({})
    .describe('The colours of links and marks.'),
  guides: path.optional().meta({
    description:
      'Your own guides: one `.md` file each, beginning with its title. Before the title, `summary`, `order` and `updated` may be set between lines `---`. A guide replaces the built-in guide of the same name.',
    values: 'directory below the configuration directory',
  }),
  builtInGuides: z
    .union([z.boolean(), z.array(z.string())], { error: 'must be true, false or a list of names' })
    .default(true)
    .meta({
      description:
        'The built-in guides. `true`: the guides that apply to the served contracts. A list: only the named ones of these.',
      values: '`true`, `false` or names',
    }),
  contact: contactAddress.optional().meta({
    description: 'The address at which readers get help. Every page links to it, and so do the pages of errors.',
    values: 'mail address, or `https://` address',
  }),
  status: webAddress.optional().meta({
    description: 'The page that says whether the API works: a link on every page.',
    values: '`https://` address',
  }),
  tiers: z
    .union([z.boolean(), z.array(name)], { error: 'must be true, false or a list of tiers' })
    .default(true)
    .meta({
      description:
        'The tiers of `limits.yaml` that the page of limits shows. `false`: there is no such page. `anonymous` is always among them.',
      values: '`true`, `false` or names of tiers',
    }),
  sampleOperation: z.string().optional().meta({
    description:
      'The operation that the first page and the guides show: a GET that needs no parameters. Default, also if the operation does not exist: the first such operation.',
    values: 'operation id',
  }),
});

export type PortalSection = z.output<typeof portal>;

/** Returns the contrast of two colours (WCAG 2.2, section 1.4.3). */
function contrastOf(one: string, other: string): number {
  const [high = 0, low = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function luminanceOf(text: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const share = Number.parseInt(text.slice(start, start + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Pushes a mistake for each tier that limits.yaml lacks. Otherwise the pages would silently leave out a misspelt tier. */
export function checkShownTiers(
  { tiers }: PortalSection,
  known: readonly string[],
  source: Source,
  mistakes: Mistake[],
): void {
  if (typeof tiers === 'boolean') return;
  for (const [index, name] of tiers.entries()) {
    if (known.includes(name)) continue;
    const reason = `limits.yaml has no tier "${name}".`;
    mistakes.push(source.mistakeAt(['portal', 'tiers', index], reason, suggest(name, known)));
  }
}

interface SampleCandidate {
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

/**
 * Returns a warning if the sample operation does not work without changes, because it is not a GET without parameters in its path. This is
 * not a mistake, because a new contract may remove the operation. The pages then show the first suitable operation.
 */
export function sampleWarning(
  { sampleOperation: named }: PortalSection,
  operations: readonly SampleCandidate[],
  source: Source,
): Mistake | undefined {
  if (named === undefined) return undefined;
  const possible = operations.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
  if (possible.some(({ id }) => id === named)) return undefined;
  const isThere = operations.some(({ id }) => id === named);
  const what = isThere ? `"${named}" is no GET, or takes a value in its path` : `there is no operation "${named}"`;
  const ids = possible.map(({ id }) => id);
  return source.mistakeAt(
    ['portal', 'sampleOperation'],
    `${what}, so the pages show the first operation that can be read without values.`,
    ids.length === 0 ? 'Remove the key.' : `${suggest(named, ids)} Without the key, the first one is meant.`,
  );
}
