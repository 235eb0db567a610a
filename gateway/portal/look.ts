// Applies the look of the configuration to pages: colours, logo, and the mark in place of a logo.

import { createHash } from 'node:crypto';

export interface Look {
  readonly logo: { readonly type: string; readonly body: Buffer } | undefined;
  /** `#rrggbb` */
  readonly colours: { readonly light?: string | undefined; readonly dark?: string | undefined };
}

/** The default colours of dark pages, which are readable for every light colour. */
const DARK = { accent: '#a5a0ff', mark: '#7c74f5' } as const;
const LIGHT = { accent: '#4338ca', mark: '#4f46e5' } as const;

/** Returns a style sheet with the colours of the configuration, for the theme that the reader has chosen. */
export function themeOf({ colours: { light, dark } }: Look): string {
  const accent = `light-dark(${light ?? LIGHT.accent}, ${dark ?? DARK.accent})`;
  const mark = `light-dark(${light ?? LIGHT.mark}, ${dark ?? DARK.mark})`;
  return `/* The colours of the configuration, and the reader's choice between light and dark. */
:root { --accent: ${accent}; --mark: ${mark}; }
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
`;
}

/** Tiles of 10 by 10, as paths. They are the quarters of a disc, a disc, and leaves. */
const TILES = [
  'M0 0h10v0a10 10 0 0 1-10 10z',
  'M0 0h10v10a10 10 0 0 1-10-10z',
  'M10 10h-10v0a10 10 0 0 1 10-10z',
  'M0 10v-10a10 10 0 0 1 10 10z',
  'M5 0a5 5 0 0 1 0 10a5 5 0 0 1 0-10z',
  'M0 0h5a5 5 0 0 1 5 5v5h-5a5 5 0 0 1-5-5z',
  'M10 0v5a5 5 0 0 1-5 5h-5v-5a5 5 0 0 1 5-5z',
] as const;
const STRENGTHS = ['1', '0.55', '0.8'] as const;

/**
 * Draws a mark from the name of the API. It consists of four tiles whose forms and strengths follow from the name, in the colour of the
 * text around it, or in `colour`.
 */
export function markOf(title: string, colour = 'currentColor'): string {
  const bytes = createHash('sha256').update(title.trim().toLowerCase()).digest();
  const tiles = [0, 1, 2, 3].map((index) => {
    const tile = TILES[(bytes[index] as number) % TILES.length];
    const strength = STRENGTHS[(bytes[index + 4] as number) % STRENGTHS.length];
    const [x, y] = [(index % 2) * 11, Math.floor(index / 2) * 11];
    return `<path transform="translate(${x} ${y})" fill-opacity="${strength}" d="${tile}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 21 21" fill="${colour}" aria-hidden="true" class="mark">${tiles.join('')}</svg>`;
}

/** Returns the mark as a separate file, for the tab of a browser. */
export function iconOf(title: string, { colours }: Look): string {
  return markOf(title, colours.light ?? LIGHT.mark);
}
