// The frame of all pages: works without JavaScript, by keyboard, at any width, in light and dark mode.

import { escapeHtml } from './html.ts';

export interface Page {
  readonly title: string;
  /** For search engines and previews; plain text. */
  readonly description: string;
  /** The path of the page or of its section, which the navigation marks as current. */
  readonly section: string;
  readonly main: string;
  /** Links beside the text. */
  readonly aside?: string;
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  /** Uses the full width of the window. */
  readonly wide?: boolean;
}

const navigation = [
  ['/docs', 'Start'],
  ['/docs/reference', 'Reference'],
  ['/docs/guides', 'Guides'],
  ['/docs/errors', 'Errors'],
] as const;

export function layOut(page: Page): string {
  const links = navigation.map(([path, text]) => {
    const current = path === page.section ? ' aria-current="true"' : '';
    return `<li><a href="${path}"${current}>${text}</a></li>`;
  });
  const styles = ['portal.css', ...(page.styles ?? [])].map(
    (name) => `<link rel="stylesheet" href="/docs/assets/${name}">`,
  );
  const scripts = (page.scripts ?? []).map((name) => `<script src="/docs/assets/${name}" defer></script>`);
  const aside = page.aside === undefined ? '' : `<nav class="aside" aria-label="On this subject">${page.aside}</nav>`;
  const shape = page.wide ? 'wide' : page.aside === undefined ? 'single' : 'with-aside';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Platform API</title>
<meta name="description" content="${escapeHtml(page.description)}">
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
${[...styles, ...scripts].join('\n')}
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="top">
<a class="brand" href="/docs"><span class="mark" aria-hidden="true"></span>Platform API</a>
<nav aria-label="Documentation"><ul>${links.join('')}</ul></nav>
</header>
<div class="frame ${shape}">
${aside}
<main id="main" tabindex="-1">
${page.main}
</main>
</div>
<footer class="bottom"><p>Quote the <code>X-Request-Id</code> of an answer when you ask for help.</p></footer>
</body>
</html>
`;
}

/** Returns a list of links in which the current page is marked. */
export function linkList(
  title: string,
  links: readonly (readonly [href: string, text: string])[],
  current = '',
): string {
  const items = links.map(([href, text]) => {
    const mark = href === current ? ' aria-current="page"' : '';
    return `<li><a href="${escapeHtml(href)}"${mark}>${escapeHtml(text)}</a></li>`;
  });
  return `<p class="aside-title">${escapeHtml(title)}</p><ul>${items.join('')}</ul>`;
}
